/** From the recorded episodes of a round to the samples its update trains on (design section 4, "Sample building"). */
import type { TrainingConfig } from '../../protocol/config.ts';
import { succeeded } from '../../protocol/outcome.ts';
import { Random } from '../../protocol/random.ts';
import type { EpisodeRecord, ResolvedCall, RoundPlan, SampleCall, SampleRecord } from '../../protocol/records.ts';
import { type PlacedEpisode, permuteAdvantages, placeEpisodes } from './groups.ts';
import { nothingSelected } from './nothing-selected.ts';
import { Notices } from './notices.ts';
import { OneSided } from './one-sided.ts';
import { type SampleStatus, STATUS } from './reasons.ts';
import { type CheckedRecord, checkRecord } from './record.ts';

/** A selected response. Token ids and log-probs are copies; the call's record is not kept. */
export interface SelectedSample {
  callId: string;
  episodeId: string;
  promptTokenIds: Int32Array;
  responseTokenIds: Int32Array;
  /** log b, one a response token. */
  behaviourLogprobs: Float64Array;
  /** A, eq. 4. */
  advantage: number;
  /** u = 1 / K of its episode. */
  u: number;
}

export interface BuildSamplesInput {
  /** 1-based. */
  round: number;
  /** Version that collected the round. */
  policyVersion: number;
  plan: RoundPlan;
  /** The round's episode records, in any order. */
  episodes: readonly EpisodeRecord[];
  /** Calls of one episode, in any order; asked for once an episode, one episode at a time. */
  calls: (episodeId: string) => Promise<SampleCall[]>;
  /** Prompt ids by the trainer's own chat template and tokenizer; null when the template cannot render the call. */
  renderPrompt: (call: ResolvedCall) => number[] | null;
  config: TrainingConfig['rl'];
  /** Longest sequence the planner takes, prompt and response together. */
  contextLimit: number;
  seed: number;
  onProgress?: (episodesDone: number, episodes: number) => void;
}

export interface BuiltRound {
  /** Every call of the round with its status, in plan order (group, attempt, try, turn). */
  samples: SampleRecord[];
  /** The selected ones, in the same order. */
  items: SelectedSample[];
  byStatus: Record<string, number>;
  /** Planned groups whose valid attempts differ in reward. */
  groupsWithSignal: number;
  /** Valid episodes that solved their task. */
  successes: number;
  /** Episodes of the plan left out of V_g: invalid, or without an outcome. */
  invalid: number;
  /** Over V_g of all groups; 0 when there is none. */
  meanReward: number;
  /** What a person should hear: what was left out and why, one line a kind. */
  warnings: string[];
}

/** Input that does not fit together. */
export class SampleError extends Error {}

/**
 * Builds a round's samples. Checks, in order: the episode has an outcome and is valid; its record is whole; every call
 * was answered by the round's policy version; calls cut by our limits and failed calls that were resent fall away; the
 * re-rendered prompt equals the recorded one; the group has a signal (eq. 4); eligibility; the seeded uniform choice of
 * at most `maxResponsesPerEpisode`. The reasons are documented in reasons.ts.
 *
 * The result depends on what was recorded, not on the order in which episodes and calls are handed over. Only the token
 * ids of selected calls stay in memory.
 *
 * @throws SampleError when the plan is not of this round and policy version.
 */
export async function buildSamples(input: BuildSamplesInput): Promise<BuiltRound> {
  const { plan } = input;
  if (plan.round !== input.round || plan.policyVersion !== input.policyVersion) {
    throw new SampleError(
      `the plan is of round ${plan.round} and policy version ${plan.policyVersion}, the samples are to be of round ${input.round} and version ${input.policyVersion}`,
    );
  }
  const notices = new Notices();
  const oneSided = new OneSided();
  const placed = placeEpisodes(plan, input.episodes, notices);
  if (input.config.advantage === 'permuted-control') permuteAdvantages(placed, input.seed, input.round);
  const samples: SampleRecord[] = [];
  const items: SelectedSample[] = [];
  for (const [index, place] of placed.episodes.entries()) {
    const record = checkRecord(place.episode, await input.calls(place.episode.id));
    const built = buildEpisode(place, record, input, notices);
    for (const [i, call] of record.calls.entries()) oneSided.add(call, built.samples[i]);
    for (const sample of built.samples) samples.push(sample);
    for (const item of built.items) items.push(item);
    input.onProgress?.(index + 1, placed.episodes.length);
  }

  oneSided.tell(notices);
  const byStatus: Record<string, number> = {};
  for (const { status } of samples) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const valid = placed.episodes.filter(({ excluded }) => excluded === null).map(({ episode }) => episode);
  const successes = valid.filter(succeeded).length;
  return {
    samples,
    items,
    byStatus,
    groupsWithSignal: placed.groupsWithSignal,
    successes,
    invalid: placed.episodes.filter(
      ({ excluded }) => excluded === STATUS.invalidEpisode || excluded === STATUS.noOutcome,
    ).length,
    meanReward: valid.reduce((sum, episode) => sum + episode.reward, 0) / Math.max(1, valid.length),
    warnings: [
      ...notices.lines(),
      ...(samples.length > 0 && items.length === 0 ? [nothingSelected(byStatus, successes, valid.length)] : []),
    ],
  };
}

function buildEpisode(
  { episode, excluded, advantage, noSignal }: PlacedEpisode,
  record: CheckedRecord,
  input: BuildSamplesInput,
  notices: Notices,
): { samples: SampleRecord[]; items: SelectedSample[] } {
  const wholeEpisode = excluded ?? recordStatus(episode, record, input, notices);
  const statuses = record.calls.map(
    (call): SampleStatus | null => wholeEpisode ?? callStatus(call, episode, record, noSignal, input, notices),
  );
  const eligible = statuses.flatMap((status, index) => (status === null ? [index] : []));
  const chosen = new Set(
    new Random('select', input.seed, episode.id).shuffle(eligible).slice(0, input.config.maxResponsesPerEpisode),
  );
  const u = 1 / chosen.size;

  const items: SelectedSample[] = [];
  const samples = record.calls.map((call, index): SampleRecord => {
    const isChosen = chosen.has(index);
    if (isChosen) {
      items.push({
        callId: call.id,
        episodeId: episode.id,
        promptTokenIds: Int32Array.from(call.promptTokenIds ?? []),
        responseTokenIds: Int32Array.from(call.responseTokenIds ?? []),
        behaviourLogprobs: Float64Array.from(call.logprobs ?? []),
        advantage: advantage ?? 0,
        u,
      });
    }
    return {
      call: call.id,
      episode: episode.id,
      advantage,
      u: isChosen ? u : null,
      promptLength: call.promptTokenIds?.length ?? null,
      responseLength: call.responseTokenIds?.length ?? null,
      status: statuses[index] ?? (isChosen ? STATUS.selected : STATUS.notSelected),
    };
  });
  for (const id of record.damagedIds) {
    samples.push({
      call: id,
      episode: episode.id,
      advantage,
      u: null,
      promptLength: null,
      responseLength: null,
      status: excluded ?? STATUS.incompleteRecord,
    });
  }
  return { samples, items };
}

/** What keeps the whole episode from being trained on, by its calls; null when nothing does. */
function recordStatus(
  episode: EpisodeRecord,
  record: CheckedRecord,
  input: BuildSamplesInput,
  notices: Notices,
): SampleStatus | null {
  if (record.problem !== null) {
    notices.add('episodes have an incomplete record', `${episode.id}: ${record.problem}`);
    return STATUS.incompleteRecord;
  }
  const other = record.calls.find((call) => call.policyVersion !== input.policyVersion);
  if (!other) return null;
  notices.add(
    `episodes have calls not answered by policy version ${input.policyVersion}`,
    `${other.id} by ${other.policyVersion ?? 'an unknown version'}`,
  );
  return STATUS.policyVersion;
}

/** What keeps one call of a whole record from being eligible; null when nothing does. */
function callStatus(
  call: ResolvedCall,
  episode: EpisodeRecord,
  record: CheckedRecord,
  noSignal: SampleStatus | null,
  input: BuildSamplesInput,
  notices: Notices,
): SampleStatus | null {
  if (call.status === 'limit') return STATUS.limit;
  if (record.resent.has(call.id)) return STATUS.resent;

  const recorded = call.promptTokenIds ?? [];
  const difference = promptDifference(recorded, input.renderPrompt(call));
  if (difference !== null) {
    notices.add('prompts differ from the record when rendered again', `${call.id}: ${difference}`);
    return STATUS.promptMismatch;
  }
  if (noSignal !== null) return noSignal;

  if (!['stop', 'tool_calls', 'length'].includes(call.finishReason ?? '')) return STATUS.finishReason;
  const responseLength = call.responseTokenIds?.length ?? 0;
  if (responseLength === 0) return STATUS.emptyResponse;
  const limit = Math.min(input.config.maxTokens, input.contextLimit);
  if (recorded.length + responseLength > limit) return STATUS.tooLong;
  const late = episode.successTurn !== null && call.turn > episode.successTurn;
  return late && input.config.postSuccess === 'drop' ? STATUS.afterSuccess : null;
}

function promptDifference(recorded: readonly number[], rendered: readonly number[] | null): string | null {
  if (rendered === null) return 'the template cannot render it';
  const length = Math.min(recorded.length, rendered.length);
  for (let i = 0; i < length; i++) {
    if (recorded[i] !== rendered[i]) return `token ${i} is ${recorded[i]} in the record and ${rendered[i]} rendered`;
  }
  if (recorded.length === rendered.length) return null;
  return `${recorded.length} tokens in the record, ${rendered.length} rendered`;
}
