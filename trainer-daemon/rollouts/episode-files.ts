/**
 * What we write into an episode's output folder beside the harness's own files: `episode.json` (the request without key
 * and, once it is over, how it ended) and `harness.log` (the end of what it printed). `check-adapter` reads the former.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { EpisodeRequest } from '../../protocol/adapter.ts';
import type { RecordedCall } from '../proxy/contract.ts';
import { makeFolder, writing } from '../store/index.ts';
import type { OutcomeInput } from './adapter-messages.ts';
import { isInside } from './output-folder.ts';
import type { TextTail } from './tail.ts';

export const EPISODE_FILE = 'episode.json';
export const LOG_FILE = 'harness.log';

const endSchema = z.object({
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  stdoutTail: z.string(),
  stderrTail: z.string(),
  answer: z.unknown().optional(),
  calls: z.array(
    z.object({
      turn: z.number(),
      status: z.string(),
      finishReason: z.string().nullable(),
      content: z.string().nullable(),
      toolCalls: z.array(z.object({ name: z.string(), arguments: z.string() })),
    }),
  ),
});
const episodeFileSchema = z.object({
  request: z.object({
    task: z.string(),
    suite: z.string(),
    taskIndex: z.number(),
    init: z.number(),
    attempt: z.number(),
    role: z.enum(['teacher', 'rollout', 'validation', 'evaluation']),
    seed: z.number(),
  }),
  end: endSchema.optional(),
});
export type EpisodeFile = z.output<typeof episodeFileSchema>;
export type EpisodeEnd = z.output<typeof endSchema>;

/** Makes the output folder, empty: an earlier, interrupted try under the same id has no record. */
export async function freshOutputFolder(folder: string): Promise<void> {
  await writing(folder, "the episode's output folder", async () => {
    await rm(folder, { recursive: true, force: true });
    await makeFolder(folder);
  });
}

/** Writes `episode.json`; the key and the address that holds it are left out. */
export async function writeEpisodeFile(request: EpisodeRequest, end?: EpisodeEnd): Promise<void> {
  const { apiKey: _key, baseUrl: _url, outputDir, ...rest } = request;
  const text = JSON.stringify({ request: rest, ...(end ? { end } : {}) }, null, 2);
  await writeInto(outputDir, EPISODE_FILE, text.replaceAll(request.apiKey, '<key>') + '\n');
}

export async function writeLog(folder: string, key: string, stdout: TextTail, stderr: TextTail): Promise<void> {
  const part = (name: string, tail: TextTail) =>
    `--- ${name}${tail.omitted > 0 ? ` (${tail.omitted} characters before this left out)` : ''} ---\n${tail}\n`;
  // Harnesses like to print their settings.
  const text = (part('stdout', stdout) + part('stderr', stderr)).replaceAll(key, '<key>');
  await writeInto(folder, LOG_FILE, text);
}

function writeInto(folder: string, name: string, text: string): Promise<void> {
  const file = join(folder, name);
  return writing(file, 'the file', async () => {
    // A harness may have removed its folder.
    await makeFolder(folder);
    await writeFile(file, text);
  });
}

/** Reads `episode.json`. Undefined when there is none. @throws Error when it is not ours. */
export function readEpisodeFile(folder: string): EpisodeFile | undefined {
  const file = join(folder, EPISODE_FILE);
  if (!existsSync(file)) return undefined;
  const parsed = episodeFileSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file} is not an episode file of ours: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Calls as an adapter sees them: one a turn, the last resend of it. */
export function outcomeCalls(calls: readonly RecordedCall[]): OutcomeInput['calls'] {
  const byTurn = new Map<number, RecordedCall>();
  for (const call of calls) byTurn.set(call.turn, call);
  return [...byTurn.values()].map((call) => ({
    turn: call.turn,
    status: call.status,
    finishReason: call.finishReason,
    content: call.response?.content ?? null,
    toolCalls: (call.response?.toolCalls ?? []).map((each) => ({
      name: each.function.name,
      arguments: each.function.arguments,
    })),
  }));
}

/** A file that outcome() names for replay, if it lies in the folder. */
export function trajectoryIn(folder: string, path: string | undefined): { path: string | null; problem?: string } {
  if (path === undefined) return { path: null };
  const full = resolve(folder, path);
  if (!isInside(folder, full)) return { path: null, problem: `trajectory "${path}" lies outside the output folder` };
  if (!existsSync(full)) return { path: null };
  if (!isInside(realpathSync(folder), realpathSync(full)))
    return { path: null, problem: `trajectory "${path}" leads outside the output folder` };
  return { path };
}
