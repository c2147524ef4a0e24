/** Videos of recorded episodes: what is in the files, and what is said where none can be made. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { episodeVideo, NoVideo, picturesVideo } from '../../../../cli/video/source.ts';
import { formatOf, type VideoOptions, writeVideo } from '../../../../cli/video/write.ts';
import { openRecording } from '../../../../recordings/index.ts';
import { openReplayEpisode } from '../../../../recordings/replay/index.ts';
import { EPISODES, SECTION, type StagedOptions, stagedRun } from '../../../integration/staged-run.ts';
import { temporaryFolder } from '../../trainer-daemon/store/runs.ts';

async function opened(options: StagedOptions = {}, change: (folder: string) => void = () => {}) {
  const folder = temporaryFolder();
  await stagedRun(folder, options);
  change(folder);
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  return { folder, episode: await openReplayEpisode(recording, SECTION, EPISODES[0]) };
}

const SMALL: VideoOptions = { width: 96, height: 72, rate: 10 };

/** Boxes of an MP4 file with what is in them, by path: `moov/trak/tkhd`. */
function boxesOf(file: Buffer, path = '', found = new Map<string, Buffer>()): Map<string, Buffer> {
  for (let at = 0; at + 8 <= file.length; ) {
    const size = file.readUInt32BE(at);
    const name = file.toString('latin1', at + 4, at + 8);
    if (size < 8 || at + size > file.length) throw new Error(`box ${path}${name} of ${size} bytes at ${at}`);
    const body = file.subarray(at + 8, at + size);
    found.set(`${path}${name}`, body);
    if (['moov', 'trak', 'mdia', 'minf', 'stbl'].includes(name)) boxesOf(body, `${path}${name}/`, found);
    at += size;
  }
  return found;
}

/** Frames of a GIF file: how long each is shown, in milliseconds. */
function delaysOf(file: Buffer): number[] {
  const delays: number[] = [];
  const colours = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  let at = 13 + colours(file[10]);
  const skipBlocks = () => {
    while (file[at] !== 0) at += file[at] + 1;
    at++;
  };
  while (file[at] !== 0x3b) {
    if (file[at] === 0x21) {
      if (file[at + 1] === 0xf9) delays.push(10 * file.readUInt16LE(at + 4));
      at += 2;
      skipBlocks();
    } else if (file[at] === 0x2c) {
      at += 10 + colours(file[at + 9]) + 1;
      skipBlocks();
    } else throw new Error(`byte ${file[at]} at ${at} begins no block`);
  }
  return delays;
}

describe('a video', () => {
  it('as MP4 holds every frame of the motion, again and again', async () => {
    const { folder, episode } = await opened();
    const listeners = process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException');
    const sizes: number[] = [];
    for (const name of ['a.mp4', 'b.mp4']) {
      const told: number[] = [];
      const written = await writeVideo(episode, join(folder, name), SMALL, (done) => told.push(done));
      // 2.7 simulated seconds and half a second of rest.
      expect(written.frames).toBe(32);
      expect(written.seconds).toBeCloseTo(3.2, 6);
      expect(told).toEqual(Array.from({ length: 32 }, (_, k) => k + 1));
      const file = readFileSync(join(folder, name));
      expect(file.length).toBe(written.bytes);
      const boxes = boxesOf(file);
      expect(boxes.get('ftyp')?.toString('latin1', 0, 4)).toMatch(/^(?:isom|mp42|avc1)/);
      const stsz = boxes.get('moov/trak/mdia/minf/stbl/stsz');
      expect(stsz?.readUInt32BE(8)).toBe(32);
      const tkhd = boxes.get('moov/trak/tkhd') ?? Buffer.of();
      expect([tkhd.readUInt32BE(tkhd.length - 8) / 65536, tkhd.readUInt32BE(tkhd.length - 4) / 65536]).toEqual([
        96, 72,
      ]);
      sizes.push(file.length);
    }
    expect(sizes[0]).toBe(sizes[1]);
    expect(sizes[0]).toBeGreaterThan(4000);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    // The encoder would have taken charge of the program's unhandled rejections.
    expect(process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException')).toBe(listeners);
  });

  it('as GIF keeps its pace', async () => {
    const { folder, episode } = await opened();
    const file = join(folder, 'a.gif');
    const { frames } = await writeVideo(episode, file, { ...SMALL, rate: 7, speed: 2, camera: 'side' });
    const bytes = readFileSync(file);
    expect(bytes.toString('latin1', 0, 6)).toBe('GIF89a');
    expect([bytes.readUInt16LE(6), bytes.readUInt16LE(8)]).toEqual([96, 72]);
    const delays = delaysOf(bytes);
    expect(delays).toHaveLength(frames);
    const total = delays.reduce((sum, one) => sum + one, 0);
    expect(Math.abs(total - (1000 * frames) / 7)).toBeLessThan(10);
  });

  it('is made of the pictures where no motion was recorded', async () => {
    const { folder, episode } = await opened({ trajectories: false });
    const written = await writeVideo(episode, join(folder, 'a.gif'), { ...SMALL, rate: 4 });
    expect(written.frames).toBe(4);
    const source = await episodeVideo(episode, { camera: 'room', width: 100, height: 40 });
    const frame = source.frame(0);
    // A square picture in the middle of a wide frame: borders at both sides, the table between.
    const pixel = (x: number, y: number) => [...frame.subarray(4 * (y * 100 + x), 4 * (y * 100 + x) + 3)];
    expect(pixel(5, 20)).toEqual([24, 24, 24]);
    expect(pixel(95, 20)).toEqual([24, 24, 24]);
    expect(pixel(50, 5)[0]).toBeGreaterThan(100);
    expect(source.seconds).toBe(1);
    expect(source.frame(Number.NaN)).toEqual(frame);
  });

  it('fits pictures of any proportion', () => {
    const red = { width: 1, height: 3, rgba: new Uint8Array([...Array(3)].flatMap(() => [255, 0, 0, 255])) };
    const { frame } = picturesVideo([red], { width: 9, height: 9 });
    const row = [...frame(0)].filter((_, k) => k % 4 === 0).slice(0, 9);
    expect(row).toEqual([24, 24, 24, 255, 255, 255, 24, 24, 24]);
  });

  it('that cannot be made is refused with the reason', async () => {
    const refusal = async (change: (folder: string) => void, options: StagedOptions, wanted: VideoOptions = {}) => {
      const { folder, episode } = await opened(options, change);
      const error = await writeVideo(episode, join(folder, 'a.mp4'), { ...SMALL, ...wanted }).catch((one) => one);
      expect(error).toBeInstanceOf(NoVideo);
      expect(existsSync(join(folder, 'a.mp4'))).toBe(false);
      return (error as Error).message;
    };
    const nothing = { trajectories: false, pictures: false };
    expect(await refusal(() => {}, nothing)).toMatch(/neither a motion nor a picture/);
    expect(await refusal(() => {}, nothing, { show: 'motion' })).toMatch(/no motion was recorded/);
    const output = (folder: string) => join(folder, SECTION, 'output', EPISODES[0], 'trajectory.json');
    expect(await refusal((folder) => writeFileSync(output(folder), '{}'), {})).toMatch(/another form/);
    expect(
      await refusal((folder) => rmSync(join(folder, 'blobs'), { recursive: true }), { trajectories: false }),
    ).toMatch(/not among the run's blobs/);
    expect(() => formatOf('a.avi')).toThrow(/\.mp4 or \.gif/);
    const { folder, episode } = await opened();
    const write = (options: VideoOptions) => writeVideo(episode, join(folder, 'b.mp4'), { ...SMALL, ...options });
    await expect(write({ width: 4000 })).rejects.toThrow(/width is 4000; it must be 16 to 1920/);
    await expect(write({ rate: 0 })).rejects.toThrow(/rate is 0/);
    await expect(write({ speed: Number.NaN })).rejects.toThrow(/speed is NaN/);
    await expect(writeVideo(episode, join(folder, 'nowhere/b.mp4'), SMALL)).rejects.toThrow(/ENOENT/);
  });

  it('ends at once when it is aborted, and another one can be made', async () => {
    const { folder, episode } = await opened();
    const stop = new AbortController();
    const never = writeVideo(episode, join(folder, 'a.mp4'), SMALL, undefined, AbortSignal.abort(new Error('before')));
    await expect(never).rejects.toThrow('before');
    const file = join(folder, 'a.mp4');
    const writing = writeVideo(
      episode,
      file,
      SMALL,
      (done) => done === 3 && stop.abort(new Error('enough')),
      stop.signal,
    );
    await expect(writing).rejects.toThrow('enough');
    expect(readdirSync(folder).filter((name) => name.startsWith('a.'))).toEqual([]);
    const { frames } = await writeVideo(episode, file, SMALL);
    expect(boxesOf(readFileSync(file)).get('moov/trak/mdia/minf/stbl/stsz')?.readUInt32BE(8)).toBe(frames);
  });
});
