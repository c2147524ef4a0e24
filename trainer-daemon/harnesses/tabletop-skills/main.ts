/** The harness as a worker process: one JSON line in starts an episode, one JSON line out tells that it is over. */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { episodeOrderSchema, playEpisode } from './episode.ts';

// Standard output belongs to the answers.
console.log = console.error;

async function answer(line: string): Promise<unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return { done: false, error: 'the line is not JSON' };
  }
  const order = episodeOrderSchema.safeParse(parsed);
  if (!order.success) return { done: false, error: `not an episode: ${z.prettifyError(order.error)}` };
  try {
    const { success, end, turns } = await playEpisode(order.data);
    return { done: true, success, end, turns };
  } catch (error) {
    console.error(error);
    return { done: false, error: (error as Error).message };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  if (line.trim() !== '') process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
}
