/**
 * Targets of supervised fine-tuning for a teacher and a student in the same configuration (paper 3.3.1, CaP-X; design
 * section 4, "Code harness SFT"): of successful episodes, the calls that ended normally.
 */
import { parseTaskId } from '../../protocol/ids.ts';
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord, ResolvedCall, SampleCall, TargetRecord } from '../../protocol/records.ts';

/** A target turn. */
export interface SftTarget {
  callId: string;
  episodeId: string;
  /** The context the student would receive at that turn, by the student's template. */
  promptTokenIds: Int32Array;
  /** Supervised tokens, the end token included. */
  responseTokenIds: Int32Array;
}

export interface BuildTargetsInput {
  /** The teacher's episode records, in any order. */
  episodes: readonly EpisodeRecord[];
  /** Calls of one episode, in any order; asked for once an episode, one episode at a time. */
  calls: (episodeId: string) => Promise<SampleCall[]>;
  /** Prompt ids by the student's chat template and tokenizer; null when the template cannot render the call. */
  renderPrompt: (call: ResolvedCall) => number[] | null;
  /** Ids of the structured response by the student's template, the end token included; null when it cannot render it. */
  encodeResponse: (call: ResolvedCall) => number[] | null;
  /** Whether the teacher's tokenizer is the student's (same hash of tokenizer.json): its recorded ids are the target. */
  sameTokenizer: boolean;
  /** Prompt and response together, at most. */
  maxTokens: number;
  /** Turns after the goal was reached; default `keep`, as they teach the student to come to an end. */
  postSuccess?: 'drop' | 'keep';
  onProgress?: (episodesDone: number, episodes: number) => void;
}

export interface BuiltTargets {
  /** Every call of the teacher with its status, by task, initial state, attempt, try and turn. */
  records: TargetRecord[];
  /** The accepted ones, in the same order. */
  targets: SftTarget[];
  /** How many calls were dropped, by status (`dropped:<reason>`). */
  dropped: Record<string, number>;
  /** What a person should hear, one line a case that is not a plain status. */
  warnings: string[];
}

/** Why a call is no target, in the order of the checks. */
export const DROPPED = {
  /** Infrastructure failure, or two records that contradict each other. */
  invalidEpisode: 'dropped:invalid-episode',
  /** The episode did not solve its task. */
  failedEpisode: 'dropped:failed-episode',
  /** The call's record could not be read. */
  damaged: 'dropped:damaged',
  /** Not complete, or ended otherwise than by stop or tool_calls (cut at the length limit, filtered). */
  notFinishedNormally: 'dropped:not-finished-normally',
  /** Given after the goal was reached; with `postSuccess: drop` only. */
  afterSuccess: 'dropped:after-success',
  /** The student's template cannot render the prompt or the response. */
  unrenderable: 'dropped:unrenderable',
  /** Nothing to supervise. */
  emptyResponse: 'dropped:empty-response',
  /** Longer than `maxTokens`. */
  tooLong: 'dropped:too-long',
} as const;

/**
 * Builds the targets. A gap in an episode's record does no harm here, as each target stands on its own recorded prompt.
 * The result does not depend on the order of episodes and calls.
 */
export async function buildTargets(input: BuildTargetsInput): Promise<BuiltTargets> {
  const built: BuiltTargets = { records: [], targets: [], dropped: {}, warnings: [] };
  const { episodes, contradicted } = distinct(input.episodes);
  for (const id of contradicted) built.warnings.push(`episode ${id} has records that contradict each other: left out`);
  for (const [index, episode] of episodes.entries()) {
    const whole = contradicted.has(episode.id) || !episode.valid ? DROPPED.invalidEpisode : null;
    const unfit = whole ?? (succeeded(episode) ? null : DROPPED.failedEpisode);
    for (const call of inTurnOrder(await input.calls(episode.id))) addCall(call, episode, unfit, input, built);
    input.onProgress?.(index + 1, episodes.length);
  }
  return built;
}

function addCall(
  call: SampleCall,
  episode: EpisodeRecord,
  unfit: string | null,
  input: BuildTargetsInput,
  built: BuiltTargets,
): void {
  const drop = (status: string, id: string, promptLength: number | null, responseLength: number | null) => {
    built.records.push({ call: id, episode: episode.id, status, source: null, promptLength, responseLength });
    built.dropped[status] = (built.dropped[status] ?? 0) + 1;
  };
  if ('damaged' in call) {
    const where = `call ${call.id ?? `of turn ${call.turn ?? 'unknown'}`} of episode ${episode.id}`;
    built.warnings.push(`${where} is damaged: ${call.damaged}`);
    if (call.id === null) built.dropped[DROPPED.damaged] = (built.dropped[DROPPED.damaged] ?? 0) + 1;
    else drop(unfit ?? DROPPED.damaged, call.id, null, null);
    return;
  }
  const outcome = unfit ?? targetOf(call, episode, input);
  if (typeof outcome === 'string') {
    drop(outcome, call.id, call.promptTokenIds?.length ?? null, call.responseTokenIds?.length ?? null);
    return;
  }
  const { prompt, response, source } = outcome;
  if (prompt.length + response.length > input.maxTokens) {
    drop(DROPPED.tooLong, call.id, prompt.length, response.length);
    return;
  }
  built.records.push({
    call: call.id,
    episode: episode.id,
    status: 'target',
    source,
    promptLength: prompt.length,
    responseLength: response.length,
  });
  built.targets.push({
    callId: call.id,
    episodeId: episode.id,
    promptTokenIds: Int32Array.from(prompt),
    responseTokenIds: Int32Array.from(response),
  });
}

interface Encoded {
  prompt: readonly number[];
  response: readonly number[];
  source: 'recorded-ids' | 're-encoded';
}

/** Context and supervised ids of one call of a successful episode, or why it is dropped. */
function targetOf(call: ResolvedCall, episode: EpisodeRecord, input: BuildTargetsInput): Encoded | string {
  if (call.status !== 'complete' || !['stop', 'tool_calls'].includes(call.finishReason ?? '')) {
    return DROPPED.notFinishedNormally;
  }
  const late = episode.successTurn !== null && call.turn > episode.successTurn;
  if (late && input.postSuccess === 'drop') return DROPPED.afterSuccess;
  const prompt = input.renderPrompt(call);
  if (prompt === null || prompt.length === 0) return DROPPED.unrenderable;
  if (input.sameTokenizer && call.responseTokenIds !== null) {
    if (call.responseTokenIds.length === 0) return DROPPED.emptyResponse;
    return { prompt, response: call.responseTokenIds, source: 'recorded-ids' };
  }
  if (call.response === null) return DROPPED.emptyResponse;
  const response = input.encodeResponse(call);
  if (response === null) return DROPPED.unrenderable;
  return response.length === 0 ? DROPPED.emptyResponse : { prompt, response, source: 're-encoded' };
}

/** Episodes by task, state, attempt and try, each id once; and the ids that have differing records. */
function distinct(records: readonly EpisodeRecord[]): { episodes: EpisodeRecord[]; contradicted: Set<string> } {
  const byId = new Map<string, EpisodeRecord>();
  const contradicted = new Set<string>();
  for (const record of records) {
    const known = byId.get(record.id);
    if (!known) byId.set(record.id, record);
    else if (JSON.stringify(known) !== JSON.stringify(record)) contradicted.add(record.id);
  }
  const place = (episode: EpisodeRecord) => ({ ...parseTaskId(episode.task), ...episode });
  const episodes = [...byId.values()].sort((one, two) => {
    const [a, b] = [place(one), place(two)];
    if (a.suite !== b.suite) return a.suite < b.suite ? -1 : 1;
    const difference = a.index - b.index || a.init - b.init || a.attempt - b.attempt || a.tryNumber - b.tryNumber;
    return difference || (a.id < b.id ? -1 : 1);
  });
  return { episodes, contradicted };
}

/** Each call once, by turn, then by id (a resend's id follows that of the call it repeats). */
function inTurnOrder(calls: readonly SampleCall[]): SampleCall[] {
  const seen = new Set<string>();
  return calls
    .filter(({ id }) => id === null || (!seen.has(id) && seen.add(id)))
    .sort((a, b) => (a.turn ?? Infinity) - (b.turn ?? Infinity) || ((a.id ?? '') < (b.id ?? '') ? -1 : 1));
}
