/** Files of moving pictures, written by libraries that need no compiler and no program beside them. */

export interface VideoEncoder {
  /** @param rgba four bytes a pixel. */
  add(rgba: Uint8Array): void;
  /** The whole file. */
  finish(): Uint8Array;
  /** Gives memory back; after `finish`, or instead of it. */
  dispose(): void;
}

export const FORMATS = ['mp4', 'gif'] as const;
export type VideoFormat = (typeof FORMATS)[number];

/** Lower is better and larger; 10-51. */
const QUALITY = 24;
/** Of the encoder's search; the slowest takes seven times as long for files of the same size (drawn scenes, 640 x 480). */
const FASTEST = 10;
/** An MP4 can be entered at every so many frames. */
const KEY_FRAMES = 20;
/** Browsers show a frame of less than this for longer instead. Milliseconds. */
const SHORTEST_DELAY = 20;

/** @param rate frames a second. MP4 needs an even width and height. */
export function openEncoder(format: VideoFormat, width: number, height: number, rate: number): Promise<VideoEncoder> {
  return format === 'mp4' ? openMp4(width, height, rate) : openGif(width, height, rate);
}

type H264Package = typeof import('h264-mp4-encoder');

async function openMp4(width: number, height: number, rate: number): Promise<VideoEncoder> {
  const encoder = await withoutNewListeners(async () => {
    // A CommonJS package: bundled, it is the default export alone.
    const loaded: H264Package & { default?: H264Package } = await import('h264-mp4-encoder');
    return (loaded.default ?? loaded).createH264MP4Encoder();
  });
  Object.assign(encoder, {
    width,
    height,
    frameRate: rate,
    quantizationParameter: QUALITY,
    speed: FASTEST,
    groupOfPictures: KEY_FRAMES,
  });
  encoder.initialize();
  let finished = false;
  return {
    add: (rgba) => encoder.addFrameRgba(rgba),
    finish: () => {
      encoder.finalize();
      finished = true;
      return encoder.FS.readFile(encoder.outputFilename);
    },
    dispose: () => {
      // It ends the program's encoder for good when it is given up unfinished.
      if (!finished) encoder.finalize();
      encoder.FS.unlink(encoder.outputFilename);
      encoder.delete();
    },
  };
}

/** The compiled encoder would end the whole program at anybody's unhandled rejection; that is not its to decide. */
async function withoutNewListeners<T>(work: () => Promise<T>): Promise<T> {
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  const before = events.map((event) => process.rawListeners(event));
  try {
    return await work();
  } finally {
    events.forEach((event, at) => {
      for (const listener of process.rawListeners(event))
        if (!before[at].includes(listener)) process.removeListener(event, listener as () => void);
    });
  }
}

async function openGif(width: number, height: number, rate: number): Promise<VideoEncoder> {
  const { GIFEncoder, applyPalette, quantize } = await import('gifenc');
  const encoder = GIFEncoder();
  const delay = Math.max(SHORTEST_DELAY, 1000 / rate);
  // Delays are hundredths of a second in the file: what is rounded off is made up for by later frames.
  let shown = 0;
  let wanted = 0;
  return {
    add: (rgba) => {
      const palette = quantize(rgba, 256, { format: 'rgb565' });
      wanted += delay;
      const now = Math.round((wanted - shown) / 10) * 10;
      shown += now;
      encoder.writeFrame(applyPalette(rgba, palette, 'rgb565'), width, height, { palette, delay: now, repeat: 0 });
    },
    finish: () => {
      encoder.finish();
      return encoder.bytes();
    },
    dispose: () => {},
  };
}
