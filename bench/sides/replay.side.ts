/**
 * One process that opens an episode of a recorded run and steps through it. Arguments: run, section, episode, and another
 * episode that is opened afterwards. Prints one JSON line of milliseconds and bytes.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { openRecording } from '../../recordings/index.ts';
import { openReplayEpisode, type ReplayEpisode, readTranscript } from '../../recordings/replay/index.ts';
import { median } from '../measure.ts';

const [run, section, first, second] = process.argv.slice(2);

const timed = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
};

/** The file read from start to end, a piece at a time: what no opening without an index can be quicker than. */
async function readThrough(path: string): Promise<number> {
  const [milliseconds] = await timed(async () => {
    const piece = Buffer.allocUnsafe(512 * 1024);
    const file = openSync(path, 'r');
    for (let at = 0, bytes = 1; bytes > 0; at += bytes) bytes = readSync(file, piece, 0, piece.length, at);
    closeSync(file);
  });
  return milliseconds;
}

/** Each call as it is shown: its facts and its text. */
async function steps(episode: ReplayEpisode, positions: number[]): Promise<number[]> {
  const taken: number[] = [];
  for (const position of positions) {
    const [milliseconds] = await timed(async () => {
      await episode.call(position);
      await readTranscript(episode, undefined, { only: position });
    });
    taken.push(milliseconds);
  }
  return taken;
}

const peak = () =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? Number.NaN) * 1024;

const before = process.memoryUsage().rss;
const sequential = await readThrough(join(run, section, 'calls.jsonl'));
const [opening, episode] = await timed(async () => {
  const opened = await openReplayEpisode(await openRecording(run), section, first);
  await opened.call(0);
  return opened;
});
const all = Array.from({ length: episode.length }, (_, k) => k);
const forwards = await steps(episode, all.slice(1));
const back = await steps(episode, all.slice(0, -1).reverse());
const [next] = await timed(async () => (await openReplayEpisode(episode.recording, section, second)).call(0));
const [start] = back.slice(-1);
const grown = (Number.isNaN(peak()) ? process.memoryUsage().rss : peak()) - before;
process.stdout.write(
  `${JSON.stringify({ sequential, opening, next, forward: median(forwards), back: median(back), slowest: Math.max(...forwards, start), grown })}\n`,
);
await episode.recording.close();
