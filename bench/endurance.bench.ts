/**
 * Whether a long run holds more and more: four hundred tiny rounds in one process, real all through (harness, proxy, server,
 * trainer, store), and after each what the process holds. ENDURANCE_ROUNDS sets another number of rounds.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../trainer-daemon/bundles.ts';
import { megabytes } from './measure.ts';
import type { BenchTable } from './table.ts';

interface Held {
  round: number;
  rss: number;
  heap: number;
  outside: number;
  files: number | null;
  threads: number | null;
  journal: number;
}

const ROUNDS = Number(process.env['ENDURANCE_ROUNDS'] ?? 400);
const TOLD = [1, 5, 10, 25, 50, 100, 200, 300];

export default async function endurance(): Promise<BenchTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-endurance-'));
  try {
    const side = join(packageRoot(), 'dist/bench/endurance.side.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', side, folder, String(ROUNDS)], {
      maxBuffer: 1e8,
    });
    const held = stdout
      .split('\n')
      .filter((line) => line.startsWith('{"round"'))
      .map((line) => JSON.parse(line) as Held);
    const shown = held.filter(({ round }) => TOLD.includes(round) || round === ROUNDS);
    return [
      {
        title: `What the process of a run holds after a round (of ${ROUNDS})`,
        columns: [
          'round',
          'RSS, MB',
          'JS heap, MB',
          'outside the heap, MB',
          'open files',
          'threads',
          'journal entries',
        ],
        rows: shown.map(({ round, rss, heap, outside, files, threads, journal }) => [
          round,
          megabytes(rss),
          (heap / 1e6).toFixed(1),
          (outside / 1e6).toFixed(1),
          files ?? '-',
          threads ?? '-',
          journal,
        ]),
        note: `Growth by straight line, kB a round: RSS ${slope(held, 'rss', 5)} from round 5 on and ${slope(held, 'rss', 25)} from round 25 on, heap ${slope(held, 'heap', 5)} and ${slope(held, 'heap', 25)}. What a heap snapshot shows to grow: encodings of texts met anew (4,096 are kept), compiled code, the journal, and names of files, keys and bodies already written. Garbage is collected before each measurement.`,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Least-squares slope from a round on, in kB a round. */
function slope(held: readonly Held[], key: 'rss' | 'heap', from: number): string {
  const points = held.filter(({ round }) => round >= from);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(({ round }) => round)), mean(points.map((point) => point[key]))];
  const top = points.reduce((sum, point) => sum + (point.round - x) * (point[key] - y), 0);
  const bottom = points.reduce((sum, point) => sum + (point.round - x) ** 2, 0);
  return (top / bottom / 1000).toFixed(1);
}
