/**
 * What it takes to open an episode of a recorded run of 10 MB, 100 MB and 1 GB and to step through it, each time in a process
 * of its own: the first time, later (an index of large files is kept), and beside a plain read of the file of calls.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../trainer-daemon/bundles.ts';
import { megabytes, ratios, spread } from './measure.ts';
import { episodeOf, SECTION, writeReplayRun } from './replay-run.ts';
import type { BenchTable } from './table.ts';

/** Episodes of the runs; each takes 99 kB. */
const SIZES = [100, 1000, 10_000];
const ROUNDS = 5;

interface Opened {
  sequential: number;
  opening: number;
  next: number;
  forward: number;
  back: number;
  slowest: number;
  grown: number;
}

export default async function replay(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-replay-'));
  const openings: BenchTable['rows'] = [];
  const steps: BenchTable['rows'] = [];
  try {
    for (const episodes of SIZES) {
      const run = join(folder, String(episodes));
      const { bytes, calls } = await writeReplayRun(run, episodes);
      const size = `${megabytes(bytes)} MB, ${calls} calls`;
      const first: Opened[] = [];
      const later: Opened[] = [];
      const last: Opened[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const cache = join(folder, `cache-${episodes}-${round}`);
        // Some episode in the middle, then the last one.
        const some = episodeOf(Math.floor(episodes * (0.2 + 0.1 * round)));
        const end = episodeOf(episodes - 1);
        first.push(await open(run, some, end, cache));
        later.push(await open(run, some, end, cache));
        last.push(await open(run, end, some, cache));
      }
      const opening = (opened: Opened[]) => opened.map((one) => one.opening);
      const sequential = (opened: Opened[]) => opened.map((one) => one.sequential);
      openings.push([
        size,
        spread(sequential(first), 0),
        spread(opening(first), 0),
        spread(ratios(opening(first), sequential(first)), 1),
        spread(opening(later), 0),
        spread(opening(last), 0),
        spread(
          later.map(({ next }) => next),
          1,
        ),
        megabytes(Math.max(...first.map(({ grown }) => grown))),
        megabytes(Math.max(...later.map(({ grown }) => grown))),
      ]);
      const all = [...first, ...later, ...last];
      steps.push([
        size,
        spread(
          all.map(({ forward }) => forward),
          2,
        ),
        spread(
          all.map(({ back }) => back),
          2,
        ),
        Math.max(...all.map(({ slowest }) => slowest)).toFixed(1),
      ]);
      await rm(run, { recursive: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return [
    {
      title: `Milliseconds to the first call of an episode, median (least-most) of ${ROUNDS} processes`,
      columns: [
        'run',
        'plain read of calls.jsonl',
        'first opening',
        'times the read',
        'later, some episode',
        'later, the last episode',
        'next episode, same process',
        'memory MB, first',
        'memory MB, later',
      ],
      rows: openings,
      note: `Every opening is a process of its own, its start not counted; the files are in the page cache. ${PREDICTION} Memory: growth of the highest resident size.`,
    },
    {
      title: 'Milliseconds of a step: a call with its facts and its text',
      columns: ['run', 'forwards', 'back', 'slowest'],
      rows: steps,
      note: `Medians (least-most) over ${3 * ROUNDS} processes, nine steps each way. A call that was just seen is still at hand on the way back.`,
    },
  ];
}

const PREDICTION =
  "Predicted before the first measurement: first opening of 1 GB 1.2 to 2 s, steps below 2 ms. Found then: 2.3 to 3.3 s, of which half was making texts of the starts of 410,000 lines and waiting for each piece of the file. Since then keys are hashed from the bytes, a piece is read while the one before is looked through, and the index of a file above 8 MB is kept in the user's cache folder.";

async function open(run: string, episode: string, next: string, cache: string): Promise<Opened> {
  const side = join(packageRoot(), 'dist/bench/replay.side.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [side, run, SECTION, episode, next], {
    env: { ...process.env, XDG_CACHE_HOME: cache },
  });
  return JSON.parse(stdout) as Opened;
}
