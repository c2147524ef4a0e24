/** `replay RUN EPISODE`: steps through a recorded episode on the screen, prints it, or makes a video of it. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { isDamaged, openRecording, type Recording, RecordingError } from '../../recordings/index.ts';
import { openReplayEpisode, type ReplayEpisode } from '../../recordings/replay/index.ts';
import { CAMERA_PLACES, type PlacedCamera } from '../../trainer-daemon/tabletop/scene/cameras.ts';
import { CommandError, EXIT } from '../exit.ts';
import { plural } from '../output/format.ts';
import type { Terminal } from '../output/terminal.ts';
import { type Choice, chooseEpisode, type Selectors, severalWords } from '../replay/choose.ts';
import { type Devices, showFullScreen } from '../replay/full-screen.ts';
import { EpisodePicker } from '../replay/picker.ts';
import { printJson, printText } from '../replay/print.ts';
import type { VideoArguments } from '../replay/video.ts';
import { videoOf } from '../replay/video.ts';
import { ReplayViewer } from '../replay/viewer.ts';
import { resolveRun } from '../run-argument.ts';
import { parseCount } from './train.ts';

interface ReplayArguments extends Omit<Selectors, 'words'>, Omit<VideoArguments, 'video'> {
  turn?: number;
  text?: boolean;
  video?: string;
}

const CAMERAS: PlacedCamera[] = ['room', ...(Object.keys(CAMERA_PLACES) as PlacedCamera[])];

export function replayCommand(terminal: Terminal): Command {
  return new Command('replay')
    .description('step through the calls of a recorded episode, print it, or make a video of it')
    .argument('<run>', 'run directory, or its name in runs/')
    .argument('[episode...]', 'id, the start of one, or TASK STATE ATTEMPT (default: pick from a list)')
    .option('--section <name>', 'only episodes of teacher, rounds/0001, evaluations/...')
    .option('--round <n>', 'the same for a round', parseCount)
    .option('--task <task>', 'only episodes of this task, such as tabletop_goal_swap/2')
    .option('--init <n>', 'only this initial state', parseCount)
    .option('--attempt <n>', 'only this attempt', parseCount)
    .option('--lowest-advantage', 'begin at the call with the lowest advantage of all these')
    .option('--turn <n>', 'begin at this turn', parseCount)
    .option('--text', 'print the episode as text although this is a terminal')
    .option('--json', 'JSON Lines: the episode, then every call with its tokens, sample and scores')
    .option('--video <file>', 'write the recorded motion (or the pictures) as .mp4 or .gif')
    .option('--fps <n>', 'frames a second of the video (default: 20, GIF 10)', parseAmount)
    .option('--size <size>', 'pixels of the video, such as 640x480', parseSize)
    .option('--speed <n>', 'simulated seconds a second of the video (default: 1)', parseAmount)
    .addOption(new Option('--camera <name>', 'where the video is seen from (default: room)').choices(CAMERAS))
    .option('--pictures', 'a video of the pictures that the planner was shown, not of the motion')
    .addHelpText(
      'after',
      '\nOn a terminal: arrows step and scroll, ? tells all keys, q quits. A run that is\nbeing written is followed. Reads files only; nothing of a run is changed.',
    )
    .action(async (named: string, words: string[], options: ReplayArguments) => {
      const recording = await openRecording(resolveRun(named)).catch(asUsage);
      try {
        await replay(terminal, recording, { ...options, words });
      } finally {
        await recording.close();
      }
    });
}

async function replay(
  terminal: Terminal,
  recording: Recording,
  options: ReplayArguments & { words: string[] },
): Promise<void> {
  const devices = options.json || options.text || options.video !== undefined ? undefined : devicesOf(terminal);
  const chosen = await chooseEpisode(recording, options).catch(asUsage);
  let choice: Choice;
  if ('several' in chosen) {
    if (!devices) throw new CommandError(severalWords(chosen.several));
    const picked = await showFullScreen(new EpisodePicker(recording.info.name, chosen.several), devices);
    if (picked === 'interrupted') terminal.exitCode = EXIT.interrupted;
    if (picked === 'interrupted' || picked === 'quit') return;
    choice = picked;
  } else choice = chosen;

  const episode = await openReplayEpisode(recording, choice.section, choice.id).catch(asUsage);
  const first = await firstPosition(episode, options.turn, choice.call);
  const { video } = options;
  if (video !== undefined) await videoOf(terminal, episode, { ...options, video });
  else if (options.json) await printJson(terminal, episode, first);
  else if (!devices) await printText(terminal, episode, first);
  else if ((await showFullScreen(new ReplayViewer(episode, first), devices)) === 'interrupted')
    terminal.exitCode = EXIT.interrupted;
}

/** Where to begin; undefined for the start. @throws CommandError when there is no such turn. */
async function firstPosition(episode: ReplayEpisode, turn?: number, call?: string): Promise<number | undefined> {
  if (turn !== undefined) {
    const position = episode.positionOf(turn);
    if (position !== undefined) return position;
    throw new CommandError(
      `${episode.id} has no turn ${turn}: it has ${plural(episode.length, 'call')}, the first is turn 0`,
    );
  }
  if (call === undefined) return undefined;
  for (let position = 0; position < episode.length; position++) {
    const told = await episode.call(position);
    if (!isDamaged(told.call) && told.call.id === call) return position;
  }
  return undefined;
}

/** Screen and keyboard, where both are there and can more than print. */
function devicesOf(terminal: Terminal): Devices | undefined {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY || process.env.TERM === 'dumb') return undefined;
  return { input: stdin, output: stdout, paint: terminal.paint };
}

function asUsage(error: unknown): never {
  throw error instanceof RecordingError ? new CommandError(error.message) : error;
}

function parseAmount(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0)) throw new InvalidArgumentError('it must be a number above 0');
  return value;
}

function parseSize(text: string): { width: number; height: number } {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(text) ?? [];
  if (width === undefined) throw new InvalidArgumentError('it must be WIDTHxHEIGHT, such as 640x480');
  return { width: Number(width), height: Number(height) };
}
