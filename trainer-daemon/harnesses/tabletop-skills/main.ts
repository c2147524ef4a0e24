/** The harness as a worker process: one JSON line in starts an episode, one JSON line out tells that it is over. */
import { createInterface } from 'node:readline';
import { type EpisodeOrder, playEpisode } from './episode.ts';

// Standard output belongs to the answers.
console.log = console.error;

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  if (line.trim() === '') continue;
  let answer: unknown;
  try {
    const order = JSON.parse(line) as EpisodeOrder;
    const result = await playEpisode(order);
    answer = { done: true, success: result.success, end: result.end, turns: result.turns };
  } catch (error) {
    console.error(error);
    answer = { done: false, error: (error as Error).message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
