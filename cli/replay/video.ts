/** `replay --video FILE`. */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ReplayEpisode } from '../../recordings/replay/index.ts';
import type { PlacedCamera } from '../../trainer-daemon/tabletop/scene/cameras.ts';
import { CommandError, EXIT } from '../exit.ts';
import { bytes, duration, plural } from '../output/format.ts';
import { ProgressBar } from '../output/progress-bar.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';

export interface VideoArguments {
  video: string;
  fps?: number;
  size?: { width: number; height: number };
  camera?: PlacedCamera;
  speed?: number;
  pictures?: boolean;
  json?: boolean;
}

/**
 * Writes the video with a progress bar; Ctrl-C leaves no half of a file.
 * @throws CommandError when there is nothing to show, or the file cannot be written there.
 */
export async function videoOf(terminal: Terminal, episode: ReplayEpisode, asked: VideoArguments): Promise<void> {
  const { NoVideo } = await import('../video/source.ts');
  const { formatOf, writeVideo } = await import('../video/write.ts');
  const file = resolve(asked.video);
  if (!existsSync(dirname(file))) throw new CommandError(`${asked.video}: there is no folder ${dirname(file)}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new CommandError(`${asked.video} is a folder`);
  const aborting = new AbortController();
  const abort = () => aborting.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, abort);
  const bar = terminal.screen && new ProgressBar(terminal.screen, 'video');
  try {
    formatOf(file);
    const written = await writeVideo(
      episode,
      file,
      {
        ...{ camera: asked.camera, rate: asked.fps, speed: asked.speed, ...asked.size },
        ...(asked.pictures && { show: 'pictures' }),
      },
      (done, total) => {
        if (bar) bar.update(done, total, 'frames');
        else if (done === 1) terminal.err(`writing ${asked.video}: ${plural(total, 'frame')}`);
      },
      aborting.signal,
    );
    bar?.clear();
    if (asked.json) terminal.out(jsonText({ kind: 'video', file, ...written }));
    else
      terminal.out(
        `${asked.video}: ${plural(written.frames, 'frame')}, ${duration(written.seconds)}, ${bytes(written.bytes)}`,
      );
  } catch (error) {
    bar?.clear();
    if (aborting.signal.aborted) {
      terminal.err(`stopped; ${asked.video} was not written`);
      terminal.exitCode = EXIT.interrupted;
      return;
    }
    const { code, message } = error as NodeJS.ErrnoException;
    // A disk that is full is no mistake of who asked.
    throw new CommandError(message, error instanceof NoVideo || code === undefined ? EXIT.usage : EXIT.failed);
  } finally {
    for (const signal of signals) process.off(signal, abort);
  }
}
