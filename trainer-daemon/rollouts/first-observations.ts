/**
 * Whether what planners were shown fits the initial states: attempts of one state begin alike, and states differ. Told
 * from the calls that were recorded beside the episodes' output folders, where they lie in a run directory.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Message } from '../../protocol/chat.ts';
import { openRecording, type Recording } from '../../recordings/index.ts';

/** An episode whose output folder is looked at. */
export interface PlayedEpisode {
  /** Absolute path of the output folder. */
  directory: string;
  task: string;
  init: number;
  attempt: number;
}

/** An episode as its planner lived it: what it was shown first, and then each action with what came of it. */
interface Experience extends PlayedEpisode {
  first: string;
  steps: { action: string; shown: string }[];
}

/** More episodes of one state tell nothing new. */
const EPISODES_A_STATE = 4;

/**
 * Doubts by output folder. Episodes without a recording, and recordings that cannot be read, are passed over: this is
 * about the harness, not about the run directory.
 */
export async function observationDoubts(episodes: readonly PlayedEpisode[]): Promise<Map<string, string[]>> {
  const doubts = new Map<string, string[]>();
  const add = (directory: string, doubt: string) => doubts.set(directory, [...(doubts.get(directory) ?? []), doubt]);
  for (const states of byTaskAndState(await experiencesOf(episodes))) {
    for (const attempts of states) {
      const [first, ...others] = attempts;
      for (const other of others)
        if (other.first !== first.first)
          add(
            other.directory,
            `its first observation is not that of attempt ${first.attempt} on the same state: if that is more than sensor noise, rewards of the group cannot be compared`,
          );
    }
    const [reference, ...rest] = states;
    for (const attempts of rest)
      if (cannotBeToldApart(reference, attempts))
        add(
          attempts[0].directory,
          `nothing the planner was shown tells state ${attempts[0].init} from state ${reference[0].init}: does launch() pass the state on?`,
        );
  }
  return doubts;
}

/** For each task, its states in ascending order; for each state a few of its episodes. */
function byTaskAndState(experiences: Experience[]): Experience[][][] {
  const tasks = new Map<string, Map<number, Experience[]>>();
  for (const one of [...experiences].sort((a, b) => a.init - b.init || a.attempt - b.attempt)) {
    const states = tasks.get(one.task) ?? new Map<number, Experience[]>();
    tasks.set(one.task, states);
    states.set(one.init, [...(states.get(one.init) ?? []), one]);
  }
  return [...tasks.values()].map((states) => [...states.values()]);
}

/**
 * No two episodes of the two states were shown different things after the same actions, and some were shown the same
 * after an action: an instruction alone is alike in all states.
 */
function cannotBeToldApart(a: Experience[], b: Experience[]): boolean {
  let alike = 0;
  for (const one of a.slice(0, EPISODES_A_STATE))
    for (const other of b.slice(0, EPISODES_A_STATE)) {
      if (one.first !== other.first) return false;
      for (const [index, step] of one.steps.entries()) {
        if (step.action !== other.steps[index]?.action) break;
        if (step.shown !== other.steps[index].shown) return false;
        alike++;
      }
    }
  return alike > 0;
}

async function experiencesOf(episodes: readonly PlayedEpisode[]): Promise<Experience[]> {
  const recordings = new Map<string, Recording>();
  const found: Experience[] = [];
  try {
    for (const episode of episodes) {
      const place = placeInRun(episode.directory);
      if (!place) continue;
      try {
        const recording = recordings.get(place.run) ?? (await openRecording(place.run));
        recordings.set(place.run, recording);
        const messages = await messagesOf(recording, place.section, place.id);
        if (messages) found.push({ ...episode, ...messages });
      } catch {
        // A damaged recording says nothing of the harness.
      }
    }
  } finally {
    for (const recording of recordings.values()) await recording.close();
  }
  return found;
}

/** Output folders lie at `<run>/<section>/output/<episode id>`. */
function placeInRun(directory: string): { run: string; section: string; id: string } | undefined {
  const output = dirname(directory);
  if (basename(output) !== 'output') return undefined;
  for (let folder = dirname(dirname(output)), depth = 0; depth < 3; folder = dirname(folder), depth++)
    if (existsSync(join(folder, 'run.json')))
      return {
        run: folder,
        section: relative(folder, dirname(output)).split(sep).join('/'),
        id: basename(directory),
      };
  return undefined;
}

async function messagesOf(
  recording: Recording,
  section: string,
  id: string,
): Promise<Pick<Experience, 'first' | 'steps'> | undefined> {
  const calls = (await (await recording.calls(section)).forEpisode(id))
    .flatMap((call) => ('damaged' in call ? [] : [call]))
    .sort((a, b) => a.turn - b.turn);
  if (calls[0]?.turn !== 0) return undefined;
  const first = await recording.resolveCall(calls[0]);
  const last = await recording.resolveCall(calls[calls.length - 1]);
  if ('damaged' in first || 'damaged' in last) return undefined;
  const steps: Experience['steps'] = [];
  let open: Experience['steps'][number] | undefined;
  for (const message of last.request.messages) {
    if (message.role === 'assistant') {
      open = { action: actionOf(message), shown: '' };
      steps.push(open);
    } else if (open) open.shown += shownBy(message);
  }
  return { first: first.request.messages.map(shownBy).join(''), steps };
}

/** What the planner did, without its reasoning and the ids of its calls. */
function actionOf(message: Message): string {
  return JSON.stringify([message.content ?? null, (message.tool_calls ?? []).map((call) => call.function)]);
}

/** A message without the id of the call it answers; images are stored by their hash. */
function shownBy(message: Message): string {
  return JSON.stringify([message.role, message.content ?? null]);
}
