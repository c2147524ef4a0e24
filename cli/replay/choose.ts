/** Which episode of a run is meant: by its id or the start of it, by task, state and attempt, or by what became of it. */
import { roundSection } from '../../protocol/ids.ts';
import { nearest } from '../../protocol/nearest.ts';
import { isDamaged, type Recording } from '../../recordings/index.ts';
import {
  findEpisode,
  type ListedEpisode,
  listedEpisodes,
  roundOf,
  shownInLine,
} from '../../recordings/replay/index.ts';
import { CommandError } from '../exit.ts';

/** An episode of a run. What its record would tell is null while it has none. */
export interface Candidate {
  section: string;
  id: string;
  state: ListedEpisode['state'];
  task: string | null;
  init: number | null;
  attempt: number | null;
  reward: number | null;
  valid: boolean | null;
  turns: number | null;
}

export interface Selectors {
  /** An id or its start; or task, state and attempt. */
  words: string[];
  round?: number;
  section?: string;
  task?: string;
  init?: number;
  attempt?: number;
  lowestAdvantage?: boolean;
}

/** The episode, and the call to begin with where the choice was made by a call. */
export interface Choice {
  section: string;
  id: string;
  call?: string;
}

const NAMED = 4;

/**
 * The one episode that is meant, or those that may be.
 * @throws CommandError when none is, naming some that there are.
 */
export async function chooseEpisode(
  recording: Recording,
  selectors: Selectors,
): Promise<Choice | { several: Candidate[] }> {
  const wanted = withWords(selectors);
  const [id] = wanted.words;
  if (id !== undefined && !wanted.lowestAdvantage) {
    // Who gives a whole id need not wait for a list of all.
    const section = await findEpisode(recording, id).catch(() => undefined);
    if (section !== undefined && wanted.section === undefined) return { section, id };
  }
  const all = await listEpisodes(recording, wanted.section);
  const found = lastTries(all.filter((one) => matches(one, wanted)));
  if (found.length === 0) throw new CommandError(noneWords(recording, all, wanted));
  if (wanted.lowestAdvantage) return lowestOf(recording, found);
  return found.length === 1 ? { section: found[0].section, id: found[0].id } : { several: found };
}

/** Sentence for those who have no list to pick from. */
export function severalWords(several: readonly Candidate[]): string {
  const more = several.length > NAMED ? `, ... (${several.length} in all)` : '';
  const names = several.slice(0, NAMED).map(({ id }) => shownInLine(id));
  return `name one of these episodes: ${names.join(', ')}${more}; or TASK STATE ATTEMPT, or choose with --section, --task, --init, --attempt or --lowest-advantage`;
}

function withWords(selectors: Selectors): Selectors {
  const { words } = selectors;
  if (selectors.round !== undefined && selectors.section !== undefined)
    throw new CommandError('give --round or --section, not both');
  const section = selectors.round === undefined ? selectors.section : roundSection(selectors.round);
  if (words.length <= 1) return { ...selectors, section };
  const [task, init, attempt] = words;
  if (words.length !== 3 || !/^\d{1,9}$/.test(init) || !/^\d{1,9}$/.test(attempt))
    throw new CommandError(
      'name an episode by its id (or the start of it), or by task, initial state and attempt, such as tabletop_goal_swap/2 17 0',
    );
  return { ...selectors, words: [], section, task, init: Number(init), attempt: Number(attempt) };
}

/**
 * All episodes that can be opened, in the order of sections and files; those without a record at the end of their section.
 */
export async function listEpisodes(recording: Recording, only?: string): Promise<Candidate[]> {
  const { teacher, rounds, evaluations } = await recording.sections();
  const sections = [...teacher, ...rounds, ...evaluations];
  if (only !== undefined && !sections.includes(only)) {
    const near = nearest(only, sections);
    throw new CommandError(
      `the run has no section "${shownInLine(only)}"${near ? `; did you mean "${near}"?` : ''}; there are ${sections.join(', ') || 'none yet'}`,
    );
  }
  const found: Candidate[] = [];
  for (const section of only === undefined ? sections : [only]) {
    for (const { id, state, record, task, init, attempt } of await listedEpisodes(recording, section)) {
      const { reward = null, valid = null, turns = null } = record ?? {};
      if (id !== null) found.push({ section, id, state, task, init, attempt, reward, valid, turns });
    }
  }
  return found;
}

function matches(one: Candidate, { words: [id], task, init, attempt }: Selectors): boolean {
  return (
    (id === undefined || one.id.startsWith(id)) &&
    (task === undefined || one.task === task) &&
    (init === undefined || one.init === init) &&
    (attempt === undefined || one.attempt === attempt)
  );
}

/** Of tries of one attempt the last one. */
function lastTries(found: Candidate[]): Candidate[] {
  const last = new Map<string, Candidate>();
  for (const one of found) {
    const { section, id, task, init, attempt } = one;
    last.set(
      task === null || init === null || attempt === null ? id : JSON.stringify([section, task, init, attempt]),
      one,
    );
  }
  return [...last.values()];
}

async function lowestOf(recording: Recording, found: readonly Candidate[]): Promise<Choice> {
  const ids = new Set(found.map(({ id }) => id));
  let lowest: { advantage: number; choice: Choice } | undefined;
  for (const section of new Set(found.map((one) => one.section))) {
    const round = roundOf(section);
    if (round === undefined) continue;
    for await (const sample of await recording.samples(round)) {
      if (isDamaged(sample) || sample.advantage === null || !ids.has(sample.episode)) continue;
      if (lowest && lowest.advantage <= sample.advantage) continue;
      lowest = { advantage: sample.advantage, choice: { section, id: sample.episode, call: sample.call } };
    }
  }
  if (lowest) return lowest.choice;
  throw new CommandError(
    'none of these episodes has an advantage: only those of rounds have, once their samples are built and where a group has unequal rewards',
  );
}

function noneWords(recording: Recording, all: readonly Candidate[], wanted: Selectors): string {
  const { section, task } = wanted;
  const [id] = wanted.words;
  if (all.length === 0)
    return `${recording.directory}: ${section === undefined ? 'the run' : section} holds no episode${section === undefined ? ' yet' : ''}`;
  const near =
    id !== undefined
      ? nearest(
          id,
          all.map((one) => one.id),
        )
      : task !== undefined
        ? nearest(task, [...new Set(all.flatMap((one) => one.task ?? []))])
        : undefined;
  const like = all.slice(0, 2).map((one) => shownInLine(`${one.id}${one.task === null ? '' : ` (${one.task})`}`));
  const what = id === undefined ? 'no episode is like that' : `no episode is named "${shownInLine(id)}"`;
  return `${what}${near ? `; did you mean "${near}"?` : ''}; there are ${all.length}, such as ${like.join(' and ')}`;
}
