/**
 * One episode of a run for replay: its outcome, its group, and its calls, each read when it is asked for. Whatever is
 * missing or damaged is told as such, and everything around it can still be looked at.
 */
import { isDeepStrictEqual } from 'node:util';
import { plural } from '../../protocol/counting.ts';
import type {
  CallRecord,
  EpisodeRecord,
  ResolvedCall,
  SampleRecord,
  ScoreRecord,
  TargetRecord,
} from '../../protocol/records.ts';
import { type Damaged, isDamaged } from '../documents.ts';
import type { RecordIndex } from '../record-index.ts';
import { type Recording, RecordingError } from '../recording.ts';
import { type CallInPart, UNREAD_MESSAGE } from '../resolve.ts';
import { actionsOf, type ReplayAction } from './actions.ts';
import { groupOf, type LackingAttempt, type ReplayAttempt, type ReplayGroup } from './group.ts';
import { isOver } from './listing.ts';
import { type Place, placesOf } from './places.ts';
import { assignSpans, assignSpansBack, type ReplaySpan, readSpans } from './spans.ts';

/** One position of an episode. Messages inside are shared between calls and must not be changed. */
export interface ReplayCall {
  position: number;
  /** Null for a damaged line whose turn is not known. */
  turn: number | null;
  call: ResolvedCall | Damaged;
  /**
   * Why messages, tools or prompt ids of its request cannot be read, where the call itself can: `UNREAD_MESSAGE` stands
   * for such messages, null for the others. Null for a whole call, and for a damaged one.
   */
  contextDamaged: string | null;
  /** What became of it as a sample; null outside of RL rounds and before samples are built. */
  sample: SampleRecord | null;
  /** Scores of the trainer, one a pass. */
  scores: ScoreRecord[];
  /** What became of it as a target of fine-tuning; null for all but teachers' calls. */
  target: TargetRecord | null;
  /** Tool calls or cells of code, with their results. */
  toolCalls: ReplayAction[];
  /** First and last entry of the trajectory's spans that belong to the call; null when there is none. */
  span: { first: number; last: number } | null;
  /** Messages at the start of the request that the previous call's request had, too: the new ones come after them. */
  newSince: number;
  /** Records about the call that cannot be read, and why. */
  problems: string[];
}

/** The record of an episode, or why there is none. */
export type EpisodeOutcome =
  | { record: EpisodeRecord; reason: null }
  | { record: null; reason: string; damaged: boolean; running: boolean };

interface SpansOfActions {
  spans: ReplaySpan[];
  problem: string | null;
  /** Actions that have a span, in the order of the episode. */
  actions: { position: number; index: number; span: number }[];
}

/** Positions whose calls are kept. */
const CACHED = 24;
/** Of those, records are kept for reading on: a call needs the one before it and the one after it. */
const CACHED_RECORDS = 4;

/**
 * Opens an episode of a section (`teacher`, `rounds/0001`, `evaluations/...`).
 * @throws RecordingError when the section holds neither a record nor a call of it.
 */
export async function openReplayEpisode(
  recording: Recording,
  section: string,
  episodeId: string,
): Promise<ReplayEpisode> {
  const episode = new ReplayEpisode(recording, section, episodeId);
  await episode.reload();
  if (episode.length === 0 && !episode.mentioned) {
    throw new RecordingError(
      `${recording.directory}: ${section} holds no episode ${JSON.stringify(episodeId.slice(0, 300))}`,
    );
  }
  return episode;
}

export class ReplayEpisode {
  readonly recording: Recording;
  readonly section: string;
  readonly id: string;
  private found: EpisodeOutcome = { record: null, reason: 'not read yet', damaged: false, running: true };
  private others: ReplayGroup = { attempts: [], lacking: [] };
  private places: Place[] = [];
  private readonly cache = new Map<number, Promise<ReplayCall>>();
  private readonly records = new Map<number, Promise<CallInPart | Damaged>>();
  private spanned: Promise<SpansOfActions> | undefined;

  constructor(recording: Recording, section: string, id: string) {
    this.recording = recording;
    this.section = section;
    this.id = id;
  }

  get outcome(): EpisodeOutcome {
    return this.found;
  }

  /** Episodes of the same task and initial state in the section that have a record, this one among them. */
  get group(): readonly ReplayAttempt[] {
    return this.others.attempts;
  }

  /** Attempts of the group whose record is damaged, or that have none (yet). */
  get lacking(): readonly LackingAttempt[] {
    return this.others.lacking;
  }

  /** Number of positions. */
  get length(): number {
    return this.places.length;
  }

  /** The section's episodes.jsonl has a line about it, be it damaged. */
  get mentioned(): boolean {
    return this.found.record !== null || this.found.damaged;
  }

  /** More calls may come. */
  get open(): boolean {
    return this.found.record === null && this.found.running;
  }

  /** The position of a turn: its last attempt that is whole; undefined when the episode has no such turn. */
  positionOf(turn: number): number | undefined {
    const at = this.places.findLastIndex((place) => place.turn === turn);
    return at < 0 ? undefined : at;
  }

  /** The turn of a position; null for a damaged line whose turn is not known. */
  turnOf(position: number): number | null {
    return this.place(position).turn;
  }

  /** The call of a position. @throws RangeError when there is no such position. */
  call(position: number): Promise<ReplayCall> {
    this.place(position);
    let call = this.cache.get(position);
    if (!call) {
      call = this.read(position);
      call.catch(() => this.cache.delete(position));
    }
    this.cache.delete(position);
    this.cache.set(position, call);
    for (const oldest of this.cache.keys()) {
      if (this.cache.size <= CACHED) break;
      this.cache.delete(oldest);
    }
    return call;
  }

  /** The spans of the trajectory, and why they cannot be read where they cannot. */
  async spans(): Promise<{ spans: readonly ReplaySpan[]; problem: string | null }> {
    this.spanned ??= this.readSpans();
    const { spans, problem } = await this.spanned;
    return { spans, problem };
  }

  /**
   * What the gripper held after an action of a call, or after the whole call; null for nothing, and where no trajectory
   * tells.
   */
  async heldAfter(position: number, action = Number.POSITIVE_INFINITY): Promise<string | null> {
    this.spanned ??= this.readSpans();
    const { spans, actions } = await this.spanned;
    const last = actions.findLast(
      (one) => one.position < position || (one.position === position && one.index <= action),
    );
    return last ? spans[last.span].held : null;
  }

  /** Takes up what was written since. True when there is anything new in the run. */
  async refresh(): Promise<boolean> {
    if (!(await this.recording.refresh())) return false;
    await this.reload();
    return true;
  }

  /** Lists the episode's calls and its outcome anew, after the recording was refreshed. */
  async reload(): Promise<void> {
    const calls = await this.recording.calls(this.section);
    const episodes = await this.recording.episodes(this.section);
    const record = await episodes.byId(this.id);
    const before = JSON.stringify([this.places, this.found]);
    this.found = outcomeOf(record, await isOver(this.recording));
    this.others = { attempts: [], lacking: [] };
    if (this.found.record)
      this.others = await groupOf(episodes, this.found.record, await this.planned(this.found.record));
    this.places = placesOf(await calls.forEpisode(this.id), this.found.record?.turns ?? null);
    this.cache.clear();
    this.records.clear();
    if (JSON.stringify([this.places, this.found]) !== before) this.spanned = undefined;
  }

  /** How many attempts the round's plan has of the group. */
  private async planned({ task, init }: EpisodeRecord): Promise<number | null> {
    const round = roundOf(this.section);
    const plan = round === undefined ? undefined : await this.recording.plan(round);
    if (!plan || isDamaged(plan)) return null;
    return plan.groups.some((one) => one.task === task && one.init === init) ? plan.attempts : null;
  }

  private place(position: number): Place {
    const place = this.places[position];
    if (place) return place;
    throw new RangeError(
      `episode ${this.id} has ${plural(this.places.length, 'call')}, there is no position ${position}`,
    );
  }

  private async read(position: number): Promise<ReplayCall> {
    const { recording, section } = this;
    const found = await this.resolved(position);
    const call = isDamaged(found) ? found : found.call;
    const contextDamaged = isDamaged(found) || found.problems.length === 0 ? null : found.problems.join('; ');
    const told: ReplayCall = {
      ...{ position, turn: this.place(position).turn, call, contextDamaged },
      ...{ sample: null, scores: [], target: null },
      ...{ toolCalls: [], span: null, newSince: 0, problems: [] },
    };
    if (isDamaged(call)) return told;
    const before = position > 0 ? await this.resolved(position - 1) : undefined;
    if (before && !isDamaged(before)) told.newSince = sharedMessages(before.call, call);
    told.toolCalls = (await this.actions(position, call)).actions;
    this.spanned ??= this.readSpans();
    const { actions } = await this.spanned;
    const own = actions.filter((one) => one.position === position);
    for (const action of told.toolCalls) {
      action.span = own.find(({ index }) => index === action.index)?.span ?? null;
      if (action.span !== null) told.span = { first: told.span?.first ?? action.span, last: action.span };
    }
    const one = <T extends object>(what: string, found: T | Damaged | undefined): T | null => {
      if (found === undefined) return null;
      if (!isDamaged(found)) return found;
      told.problems.push(`${what}, line ${found.line}: ${found.damaged}`);
      return null;
    };
    const round = roundOf(section);
    if (round !== undefined) {
      told.sample = one('samples.jsonl', await (await recording.samples(round)).byId(call.id));
      for (const score of await (await recording.scores(round)).allById(call.id)) {
        const whole = one('scores.jsonl', score);
        if (whole) told.scores.push(whole);
      }
    }
    if (section === 'teacher') {
      told.target = one('sft/targets.jsonl', await (await recording.targets()).byId(call.id));
    }
    return told;
  }

  private resolved(position: number): Promise<CallInPart | Damaged> {
    let record = this.records.get(position);
    if (!record) {
      record = this.resolveNow(position);
      record.catch(() => this.records.delete(position));
      this.records.set(position, record);
      for (const oldest of this.records.keys()) {
        if (this.records.size <= CACHED_RECORDS) break;
        this.records.delete(oldest);
      }
    }
    return record;
  }

  private async resolveNow(position: number): Promise<CallInPart | Damaged> {
    const place = this.place(position);
    if (place.kind === 'damaged') return place.reason;
    if (place.kind === 'missing') return { damaged: `the call of turn ${place.turn} is missing`, line: 0 };
    const record = await lineOf(await this.recording.calls(this.section), place.line);
    return isDamaged(record) ? record : this.recording.resolveCallInPart(record);
  }

  /** Results come with the messages of the next call of another turn; `known` is false where those cannot be read. */
  private async actions(position: number, call: ResolvedCall): Promise<{ actions: ReplayAction[]; known: boolean }> {
    for (let next = position + 1; next < this.places.length; next++) {
      if (this.places[next].turn === call.turn) continue;
      const after = await this.resolved(next);
      if (isDamaged(after)) return { actions: actionsOf(call, null, 0), known: false };
      const { messages } = after.call.request;
      const shared = sharedMessages(call, after.call);
      return { actions: actionsOf(call, messages, shared), known: !messages.includes(UNREAD_MESSAGE, shared) };
    }
    return { actions: actionsOf(call, null, 0), known: true };
  }

  private async readSpans(): Promise<SpansOfActions> {
    const read = await readSpans(this.recording.directory, this.found.record);
    if (read === null || 'problem' in read) return { spans: [], problem: read?.problem ?? null, actions: [] };
    const calls: { position: number; actions: ReplayAction[]; known: boolean }[] = [];
    for (let position = 0; position < this.places.length; position++) {
      const found = await this.resolved(position);
      if (isDamaged(found)) calls.push({ position, actions: [], known: false });
      else if (found.call.status === 'complete')
        calls.push({ position, ...(await this.actions(position, found.call)) });
    }
    // What moved in a call that cannot be read is not known: around it spans are counted from both ends.
    const gap = calls.findIndex(({ known }) => !known);
    const [before, after] =
      gap < 0 ? [calls, []] : [calls.slice(0, gap), calls.slice(calls.findLastIndex(({ known }) => !known) + 1)];
    const given = assignSpans(
      before.flatMap(({ actions }) => actions),
      read.spans,
    );
    if (this.found.record)
      assignSpansBack(
        after.flatMap(({ actions }) => actions),
        read.spans.slice(given),
        given,
      );
    const actions = calls.flatMap(({ position, actions: own }) =>
      own.flatMap(({ index, span }) => (span === null ? [] : [{ position, index, span }])),
    );
    return { spans: read.spans, problem: null, actions };
  }
}

function outcomeOf(record: EpisodeRecord | Damaged | undefined, over: boolean): EpisodeOutcome {
  if (record === undefined) {
    const reason = over
      ? 'it has no record: the run ended before it did'
      : 'it has no record yet: it is running, or its run was killed';
    return { record: null, reason, damaged: false, running: !over };
  }
  if (!isDamaged(record)) return { record, reason: null };
  return {
    record: null,
    reason: `episodes.jsonl, line ${record.line}: ${record.damaged}`,
    damaged: true,
    running: false,
  };
}

/** Messages at the start of both requests. Bodies are shared in memory, others are compared by what they say. */
function sharedMessages(before: ResolvedCall, call: ResolvedCall): number {
  const [a, b] = [before.request.messages, call.request.messages];
  let shared = 0;
  while (shared < a.length && shared < b.length) {
    if (a[shared] !== b[shared] && !isDeepStrictEqual(a[shared], b[shared])) break;
    shared++;
  }
  return shared;
}

/** Number of the RL round that a section is; undefined for others. */
export function roundOf(section: string): number | undefined {
  const found = /^rounds\/(\d{4,})$/.exec(section);
  return found ? Number(found[1]) : undefined;
}

async function lineOf(index: RecordIndex<CallRecord>, line: number): Promise<CallRecord | Damaged> {
  if (line >= index.length) return { damaged: 'the file was cut while it was being read', line: line + 1 };
  return index.get(line);
}
