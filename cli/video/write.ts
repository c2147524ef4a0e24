/** Writing the video of an episode to a file. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { ReplayEpisode } from '../../recordings/replay/index.ts';
import type { PlacedCamera } from '../../trainer-daemon/tabletop/scene/cameras.ts';
import { FORMATS, openEncoder, type VideoFormat } from './encoders.ts';
import { episodeVideo, type SourceOptions, type VideoSource } from './source.ts';

export interface VideoOptions {
  /** Default: over the table. */
  camera?: PlacedCamera;
  /** Pixels; default 640 x 480. Odd ones are made even. */
  width?: number;
  height?: number;
  /** Frames a second of the file; default 20 (GIF: 10). */
  rate?: number;
  /** Simulated seconds a second of the file; default 1. */
  speed?: number;
  show?: SourceOptions['show'];
}

export interface WrittenVideo {
  frames: number;
  bytes: number;
  /** Of the file. */
  seconds: number;
}

/** Told after each frame. */
export type VideoProgress = (done: number, total: number) => void;

const MOST_FRAMES = 20_000;
const LARGEST_SIDE = 1920;

/** The format that a file's name asks for. @throws Error when it is none that can be written. */
export function formatOf(file: string): VideoFormat {
  const format = FORMATS.find((one) => `.${one}` === extname(file).toLowerCase());
  if (!format) throw new Error(`${file}: videos are written as ${FORMATS.map((one) => `.${one}`).join(' or ')}`);
  return format;
}

/**
 * Writes an episode's recorded motion, or the pictures that the planner was shown, as an MP4 or GIF file. The file is
 * there whole or not at all.
 * @throws NoVideo when there is nothing to show; Error when the options make no video; `signal.reason` when it is aborted.
 */
export async function writeVideo(
  episode: ReplayEpisode,
  file: string,
  options: VideoOptions = {},
  onProgress: VideoProgress = () => {},
  signal?: AbortSignal,
): Promise<WrittenVideo> {
  const format = formatOf(file);
  const { camera = 'room', show } = options;
  const [width, height] = [side('width', options.width ?? 640), side('height', options.height ?? 480)];
  const source = await episodeVideo(episode, { camera, width, height, ...(show && { show }) });
  const rate = between('rate', options.rate ?? (format === 'gif' ? 10 : 20), 1, 60);
  const speed = between('speed', options.speed ?? 1, 0.05, 20);
  const { bytes, frames } = await encode(source, format, rate, speed, onProgress, signal);
  const unfinished = `${file}.partial`;
  try {
    await writeFile(unfinished, bytes);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return { frames, bytes: bytes.length, seconds: frames / rate };
}

/** All frames of a source. */
async function encode(
  source: VideoSource,
  format: VideoFormat,
  rate: number,
  speed: number,
  onProgress: VideoProgress,
  signal: AbortSignal | undefined,
): Promise<{ bytes: Uint8Array; frames: number }> {
  const total = Math.max(1, Math.round((source.seconds / speed) * rate));
  if (total > MOST_FRAMES)
    throw new Error(
      `the video would have ${total} frames, more than ${MOST_FRAMES}: raise the speed or lower the rate`,
    );
  const encoder = await openEncoder(format, source.width, source.height, rate);
  try {
    for (let frame = 0; frame < total; frame++) {
      signal?.throwIfAborted();
      encoder.add(source.frame((frame * speed) / rate));
      onProgress(frame + 1, total);
      // Signals and bars get their turn.
      await new Promise((done) => setImmediate(done));
    }
    return { bytes: encoder.finish(), frames: total };
  } finally {
    encoder.dispose();
  }
}

function side(name: string, pixels: number): number {
  return 2 * Math.round(between(name, pixels, 16, LARGEST_SIDE) / 2);
}

function between(name: string, value: number, low: number, high: number): number {
  if (!(value >= low && value <= high))
    throw new Error(`the video's ${name} is ${value}; it must be ${low} to ${high}`);
  return value;
}
