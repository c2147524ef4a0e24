/** What a video of a recorded episode shows: the world as it moved, or the pictures that the planner was shown. */
import { PNG } from 'pngjs';
import { durationOf } from '../../protocol/poses.ts';
import { imageRefSchema } from '../../protocol/records.ts';
import { type DecodedTrajectory, isDamaged, readTrajectory } from '../../recordings/index.ts';
import type { ReplayEpisode } from '../../recordings/replay/index.ts';
import { FrameRenderer } from '../../trainer-daemon/tabletop/perception/frame-renderer.ts';
import type { PlacedCamera } from '../../trainer-daemon/tabletop/scene/cameras.ts';

export interface VideoSource {
  width: number;
  height: number;
  /** How long it is at its own pace. */
  seconds: number;
  /** The picture at a time: four bytes a pixel. */
  frame(time: number): Uint8Array;
}

/** There is nothing that could be shown, and why. */
export class NoVideo extends Error {}

/** The last picture stands for so long, so that its end can be seen. Seconds. */
const REST = 0.5;
/** A picture that the planner was shown stands for so long. Seconds. */
const PICTURE = 1;
/** Pictures that are larger are not unpacked. Pixels. */
const MOST_PIXELS = 8_000_000;
const BACKGROUND = [24, 24, 24, 255];

export interface SourceOptions {
  camera: PlacedCamera;
  width: number;
  height: number;
  /** `pictures` although there is a recorded motion. Default: the motion where there is one. */
  show?: 'motion' | 'pictures';
}

/**
 * The video of an episode.
 * @throws NoVideo when neither a motion nor a picture was recorded, or what was recorded cannot be shown.
 */
export async function episodeVideo(episode: ReplayEpisode, options: SourceOptions): Promise<VideoSource> {
  const { record, reason } = episode.outcome;
  if (options.show !== 'pictures') {
    const read = record ? await readTrajectory(episode.recording.directory, record) : undefined;
    if (read && isDamaged(read)) throw new NoVideo(read.damaged);
    if (read) return motionVideo(read, options);
    if (options.show === 'motion')
      throw new NoVideo(`no motion was recorded for ${episode.id}${reason ? ` (${reason})` : ''}`);
  }
  const pictures = await picturesOf(episode);
  if (pictures.length === 0)
    throw new NoVideo(`neither a motion nor a picture was recorded for ${episode.id}${reason ? ` (${reason})` : ''}`);
  return picturesVideo(pictures, options);
}

export function motionVideo(
  trajectory: DecodedTrajectory,
  { camera, width, height }: Pick<SourceOptions, 'camera' | 'width' | 'height'>,
): VideoSource {
  const renderer = new FrameRenderer(trajectory, trajectory.poses, camera, width, height);
  return { width, height, seconds: durationOf(trajectory.poses) + REST, frame: (time) => renderer.frame(time) };
}

interface Picture {
  width: number;
  height: number;
  /** Four bytes a pixel. */
  rgba: Uint8Array;
}

/** One picture after the other, each as large as fits, with its own proportions. */
export function picturesVideo(
  pictures: Picture[],
  { width, height }: Pick<SourceOptions, 'width' | 'height'>,
): VideoSource {
  const fitted = new Map<number, Uint8Array>();
  return {
    width,
    height,
    seconds: pictures.length * PICTURE,
    frame: (time) => {
      const at = Math.max(0, Math.min(pictures.length - 1, Math.floor(time / PICTURE) || 0));
      const known = fitted.get(at);
      if (known) return known;
      fitted.clear();
      const made = fit(pictures[at], width, height);
      fitted.set(at, made);
      return made;
    },
  };
}

/** Every picture that the planner was shown, in order; each once. */
async function picturesOf(episode: ReplayEpisode): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (let position = 0; position < episode.length; position++) {
    const { call, newSince } = await episode.call(position);
    if (isDamaged(call)) continue;
    for (const { content } of call.request.messages.slice(newSince)) {
      if (!Array.isArray(content)) continue;
      for (const part of content) {
        const ref = imageRefSchema.safeParse(part);
        if (ref.success) pictures.push(await pictureOf(episode, ref.data.sha256));
      }
    }
  }
  return pictures;
}

async function pictureOf({ recording, id }: ReplayEpisode, sha: string): Promise<Picture> {
  const blob = await recording.blob(sha);
  if (!blob) throw new NoVideo(`${id}: the picture ${sha.slice(0, 12)} is not among the run's blobs`);
  if (isDamaged(blob)) throw new NoVideo(`${id}: ${blob.damaged}`);
  if (blob.mediaType !== 'image/png')
    throw new NoVideo(`${id}: ${blob.path} is ${blob.mediaType}; videos can be made of PNG pictures only`);
  // Size is told at a fixed place of the file, before anything is unpacked.
  const size = blob.bytes.length >= 24 ? blob.bytes.readUInt32BE(16) * blob.bytes.readUInt32BE(20) : 0;
  if (size > MOST_PIXELS) throw new NoVideo(`${id}: ${blob.path} is too large for a video (${size} pixels)`);
  try {
    const { width, height, data } = PNG.sync.read(blob.bytes);
    return { width, height, rgba: data };
  } catch (error) {
    throw new NoVideo(`${id}: ${blob.path} is no PNG picture: ${(error as Error).message}`);
  }
}

function fit(picture: Picture, width: number, height: number): Uint8Array {
  const scale = Math.min(width / picture.width, height / picture.height);
  const [wide, high] = [Math.round(picture.width * scale), Math.round(picture.height * scale)];
  const [left, top] = [(width - wide) >> 1, (height - high) >> 1];
  const made = new Uint8Array(4 * width * height);
  for (let y = 0; y < height; y++) {
    const from = Math.min(picture.height - 1, Math.floor((y - top + 0.5) / scale));
    for (let x = 0; x < width; x++) {
      const inside = x >= left && x < left + wide && y >= top && y < top + high;
      const at = 4 * (from * picture.width + Math.min(picture.width - 1, Math.floor((x - left + 0.5) / scale)));
      for (let c = 0; c < 4; c++) made[4 * (y * width + x) + c] = inside ? picture.rgba[at + c] : BACKGROUND[c];
    }
  }
  return made;
}
