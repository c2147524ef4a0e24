/** Trajectories of recorded episodes: whole, damaged, huge, and outside of where they belong. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationOf, poseAt, product, type Quaternion, slerp, turned } from '../../../protocol/poses.ts';
import type { Trajectory } from '../../../protocol/trajectory.ts';
import { isDamaged, readTrajectory } from '../../../recordings/index.ts';
import { temporaryFolder } from '../trainer-daemon/store/runs.ts';

/** Poses packed as the world's recorder does: differences from frame to frame, one channel after the other. */
function packed(frames: number[][]): string {
  const channels = frames[0].length;
  const deltas = new Int16Array(channels * frames.length);
  for (let c = 0; c < channels; c++)
    for (let f = 0; f < frames.length; f++)
      deltas[c * frames.length + f] = frames[f][c] - (f > 0 ? frames[f - 1][c] : 0);
  return deflateRawSync(new Uint8Array(deltas.buffer)).toString('base64');
}

/** One body that goes 1 m along x and turns a quarter about z in three frames. */
const UP = Math.round(Math.SQRT1_2 * 32767);
const FRAMES = [
  [0, 0, 0, 32767, 0, 0, 0],
  [5000, 0, 0, 30273, 0, 0, 12539],
  [10000, -30000, 30000, UP, 0, 0, UP],
];
const whole: Trajectory = {
  version: 1,
  rate: 20,
  bodies: ['world'],
  geoms: [
    { body: 0, kind: 'sphere', size: [0.1], position: [0, 0, 0], quaternion: [1, 0, 0, 0], colour: [1, 0, 0, 1] },
  ],
  frames: 3,
  poses: packed(FRAMES),
  spans: [{ name: 'pick', start: 0, end: 0.1, held: null }],
};
const RECORD = { outputDir: 'teacher/output/e0', trajectory: 'trajectory.json' };

/** A run's folder with a trajectory file of the given content. */
function runWith(content: unknown, record = RECORD): string {
  const run = temporaryFolder();
  const file = join(run, record.outputDir, record.trajectory);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return run;
}

async function reasonOf(content: unknown): Promise<string> {
  const read = await readTrajectory(runWith(content), RECORD);
  if (!read || !isDamaged(read)) throw new Error('was read');
  return read.damaged;
}

describe('a trajectory of a recording', () => {
  it('is read, unpacked and played between its frames', async () => {
    const read = await readTrajectory(runWith({ ...whole, more: 'from another version' }), RECORD);
    if (!read || isDamaged(read)) throw new Error('was not read');
    const { poses } = read;
    expect(durationOf(poses)).toBe(0.1);
    expect([...poses.values]).toEqual(FRAMES.flat());
    expect(poseAt(poses, 0.05, 0).position).toEqual([0.5, 0, 0]);
    // A quarter turn in 0.1 s, so 22.5 degrees every half frame.
    const angle = (time: number) =>
      (2 * Math.atan2(poseAt(poses, time, 0).quaternion[3], poseAt(poses, time, 0).quaternion[0]) * 180) / Math.PI;
    for (const [time, degrees] of [
      [0, 0],
      [0.025, 22.5],
      [0.05, 45],
      [0.075, 67.5],
      [0.1, 90],
    ])
      expect(angle(time)).toBeCloseTo(degrees, 2);
    expect(poseAt(poses, 0.075, 0).position[1]).toBeCloseTo(-1.5, 6);
    // Beyond both ends it stands still.
    expect(poseAt(poses, 9, 0).position).toEqual([1, -3, 3]);
    expect(poseAt(poses, -1, 0).position).toEqual([0, 0, 0]);
    expect(poseAt(poses, Number.NaN, 0).position).toEqual([0, 0, 0]);
  });

  it('that is damaged says how', async () => {
    expect(await reasonOf('{"version":1,')).toMatch(/^trajectory trajectory\.json: is no JSON/);
    expect(await reasonOf({ ...whole, frames: 4 })).toMatch(/42 bytes for 4 frames of 1 bodies, which take 56/);
    expect(await reasonOf({ ...whole, frames: 2 })).toMatch(/more bytes than 2 frames/);
    expect(await reasonOf({ ...whole, poses: 'AAAA' })).toMatch(/the trajectory is damaged/);
    expect(await reasonOf({ ...whole, poses: 7 })).toMatch(/poses: .*expected string/);
    expect(await reasonOf({ ...whole, version: 2 })).toMatch(/newer version/);
    expect(await reasonOf([1, 2])).toMatch(/another form/);
    expect(await reasonOf({ ...whole, geoms: [{ ...whole.geoms[0], body: 1 }] })).toMatch(/geoms: .*body/);
    expect(await reasonOf({ ...whole, geoms: [{ ...whole.geoms[0], kind: 'box' }] })).toMatch(/number of sizes/);
    expect(await reasonOf({ ...whole, spans: [{ name: 'a', start: 2, end: 1, held: null }] })).toMatch(
      /before it starts/,
    );
  });

  it('that unpacks to more than it tells takes no memory', async () => {
    // 200 MB of zeros in 200 kB.
    const bomb = deflateRawSync(Buffer.alloc(200 * 1024 * 1024), { level: 1 }).toString('base64');
    expect(await reasonOf({ ...whole, poses: bomb })).toMatch(/more bytes than 3 frames/);
    expect(await reasonOf({ ...whole, frames: 100_000_000, poses: bomb })).toMatch(/more poses than can be shown/);
  });

  it('is read from nowhere but the output folder', async () => {
    const run = runWith(whole);
    const told = async (record: { outputDir: string | null; trajectory: string | null }) => {
      const read = await readTrajectory(run, record);
      return read && (isDamaged(read) ? read.damaged : 'read');
    };
    expect(await told(RECORD)).toBe('read');
    expect(await told({ ...RECORD, trajectory: null })).toBeUndefined();
    expect(await told({ ...RECORD, outputDir: null })).toMatch(/no output folder/);
    expect(await told({ ...RECORD, trajectory: '../e0/trajectory.json' })).toMatch(/read/);
    expect(await told({ ...RECORD, trajectory: '../../run.json' })).toMatch(/outside/);
    expect(await told({ ...RECORD, outputDir: '../elsewhere' })).toMatch(/outside/);
    expect(await told({ ...RECORD, trajectory: 'gone.json' })).toMatch(/gone/);
    const elsewhere = runWith(whole);
    symlinkSync(join(elsewhere, RECORD.outputDir), join(run, 'teacher/output/linked'));
    expect(await told({ ...RECORD, outputDir: 'teacher/output/linked' })).toMatch(/outside of the run/);
    symlinkSync(join(elsewhere, RECORD.outputDir, RECORD.trajectory), join(run, RECORD.outputDir, 'link.json'));
    expect(await told({ ...RECORD, trajectory: 'link.json' })).toMatch(/symbolic link/);
  });
});

describe('turns', () => {
  const number = fc.double({ min: -1, max: 1, noNaN: true });
  const quaternion = fc
    .tuple(number, number, number, number)
    .filter((q) => Math.hypot(...q) > 0.1)
    .map((q) => q.map((x) => x / Math.hypot(...q)) as Quaternion);

  it('go from the one to the other on the shorter arc, evenly', () => {
    fc.assert(
      fc.property(quaternion, quaternion, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, share) => {
        const dot = (p: Quaternion, q: Quaternion) => Math.min(1, Math.abs(p.reduce((sum, x, k) => sum + x * q[k], 0)));
        const between = slerp(a, b, share);
        expect(Math.hypot(...between)).toBeCloseTo(1, 9);
        // Far from both ends, where acos is steep, angles add up.
        const arc = Math.acos(dot(a, b));
        if (arc > 0.05 && share > 0.05 && share < 0.95) expect(Math.acos(dot(a, between))).toBeCloseTo(share * arc, 5);
      }),
      { numRuns: 300 },
    );
  });

  it('of turns are turns one after the other', () => {
    fc.assert(
      fc.property(quaternion, quaternion, fc.tuple(number, number, number), (a, b, v) => {
        const once = turned(product(a, b), v);
        turned(a, turned(b, v)).forEach((x, k) => {
          expect(once[k]).toBeCloseTo(x, 9);
        });
      }),
      { numRuns: 200 },
    );
    // A quarter about z takes x to y.
    const [x, y, z] = turned([Math.SQRT1_2, 0, 0, Math.SQRT1_2], [1, 0, 0]);
    expect([x, y, z].map((one) => Number(one.toFixed(9)) + 0)).toEqual([0, 1, 0]);
  });
});
