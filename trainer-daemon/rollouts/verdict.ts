/**
 * From how an episode ended and what the adapter says to the five fields of its record. `valid: false` is for failures
 * of the infrastructure only; whatever the planner did wrong is a valid failure.
 */
import type { Outcome } from '../../protocol/adapter.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { RecordedCall } from '../proxy/contract.ts';

/** What stopped the harness; `exit` and `crash` when it ended by itself. */
export type Ending = 'exit' | 'crash' | 'turn-limit' | 'time-limit' | 'token-limit' | 'hang' | 'adapter-error';

export interface EpisodeFacts {
  task: string;
  init: number;
  attempt: number;
  ending: Ending;
  /** How the harness ended (exit code, signal or limit) and its last words. For adapter-error: what launch() did. */
  detail: string;
  calls: readonly RecordedCall[];
  lostCalls: number;
  idleSeconds: number;
  /** What the adapter made of the remains, or why it could not. */
  outcome: { ok: true; value: Outcome } | { ok: false; problem: string };
}

export type Verdict = Pick<
  EpisodeRecord,
  'reward' | 'valid' | 'invalidReason' | 'successTurn' | 'end' | 'trajectory' | 'turns'
>;

/** @returns the record's fields that depend on how the episode went. */
export function judgeEpisode(facts: EpisodeFacts): Verdict {
  const { outcome, calls } = facts;
  const turns = calls.filter((call) => call.status === 'complete').length;
  const told = outcome.ok ? outcome.value : undefined;
  const mismatch = told ? mismatchOf(facts, told) : undefined;
  const base = { turns, end: facts.ending, trajectory: told?.trajectory ?? null };
  const invalid = (invalidReason: string, end: Ending = facts.ending): Verdict => ({
    ...base,
    end,
    reward: 0,
    valid: false,
    invalidReason,
    successTurn: null,
  });

  if (facts.ending === 'adapter-error') return invalid(`adapter-error: ${facts.detail}`);
  if (facts.ending === 'hang') return invalid(`hang: no call and no output for ${facts.idleSeconds} s`);
  if (facts.lostCalls > 0) return invalid(`lost call: ${facts.lostCalls} of the calls could not be recorded`);
  if (calls.length === 0) return invalid(`no planner call${facts.detail === '' ? '' : `: ${facts.detail}`}`);

  const limited = facts.ending.endsWith('-limit');
  if (mismatch !== undefined) return invalid(`adapter-error: ${mismatch}`, 'adapter-error');
  const succeeded = told?.valid === true && told.reward > 0;
  const last = calls.at(-1) as RecordedCall;
  if ((last.status === 'upstream-error' || last.status === 'timeout') && !succeeded)
    return invalid(`upstream failure: the planner's server failed at turn ${last.turn} and no repeat was answered`);

  if (told?.valid) {
    return {
      ...base,
      reward: told.reward,
      valid: true,
      invalidReason: null,
      successTurn: told.successTurn ?? null,
    };
  }
  // The harness was still at work: what it had no time to write is not its fault, and the planner did not succeed.
  if (limited) return { ...base, reward: 0, valid: true, invalidReason: null, successTurn: null };
  if (!outcome.ok) return invalid(`adapter-error: ${outcome.problem}`, 'adapter-error');
  return invalid(told?.invalidReason || 'the adapter says so');
}

/** Why the adapter's answer is not about this episode, if so. */
function mismatchOf(facts: EpisodeFacts, told: Outcome): string | undefined {
  for (const field of ['task', 'init', 'attempt'] as const)
    if (told[field] !== facts[field])
      return `outcome() answered ${field} ${JSON.stringify(told[field])}, but the episode was asked for ${JSON.stringify(facts[field])}`;
  const turns = facts.calls.reduce((most, call) => Math.max(most, call.turn + 1), 0);
  if (told.successTurn !== undefined && told.successTurn >= turns)
    return `outcome() answered successTurn ${told.successTurn}, but the episode has turns 0 to ${turns - 1}`;
  return undefined;
}
