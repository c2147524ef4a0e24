/** Whether the record of an episode is whole, so that its calls may be trained on. */
import type { EpisodeRecord, ResolvedCall, SampleCall } from '../../protocol/records.ts';

export interface CheckedRecord {
  /** Distinct calls in turn order, a resend after the call it repeats. */
  calls: ResolvedCall[];
  /** Ids of damaged calls, where known. */
  damagedIds: string[];
  /** Failed calls that a completed resend stands for. */
  resent: Set<string>;
  /** What is wrong with the record; null when it is whole. */
  problem: string | null;
}

/**
 * Checks an episode's calls against each other and against its record: turns 0, 1, 2, ... without a gap, one complete
 * call a turn, as many complete calls as the episode counted, every failed call repeated by a resend (`retryOf`) that
 * completed, token ids of prompt and response present, one finite log-prob a response token. Calls cut by our own limit
 * are no gap.
 */
export function checkRecord(episode: EpisodeRecord, found: readonly SampleCall[]): CheckedRecord {
  const byId = new Map<string, ResolvedCall>();
  const damagedIds = new Set<string>();
  const problems: string[] = [];
  const inOrder = [...found].sort((a, b) => (a.turn ?? -1) - (b.turn ?? -1) || byText(a.id ?? '', b.id ?? ''));
  for (const call of inOrder) {
    if ('damaged' in call) {
      if (call.id !== null) damagedIds.add(call.id);
      problems.push(`call ${call.id ?? `of turn ${call.turn ?? 'unknown'}`} is damaged: ${call.damaged}`);
    } else {
      if (byId.has(call.id)) problems.push(`call ${call.id} is recorded twice`);
      else byId.set(call.id, call);
      if (call.episode !== episode.id) problems.push(`call ${call.id} belongs to episode ${call.episode}`);
    }
  }
  const calls = [...byId.values()].sort(
    (a, b) => a.turn - b.turn || resendRank(a) - resendRank(b) || byText(a.id, b.id),
  );
  const resent = completedResends(calls, byId);

  let next = 0;
  const completeTurns = new Set<number>();
  for (const call of calls) {
    if (call.turn > next) problems.push(`turn ${next} is missing`);
    next = Math.max(next, call.turn + 1);
    if (call.status === 'complete') {
      if (completeTurns.has(call.turn)) problems.push(`turn ${call.turn} has two complete calls`);
      completeTurns.add(call.turn);
      const problem = tokenProblem(call);
      if (problem) problems.push(`call ${call.id} ${problem}`);
    } else if (call.status !== 'limit' && !resent.has(call.id)) {
      problems.push(`call ${call.id} failed (${call.status}) and no resend of it completed`);
    }
  }
  const complete = calls.filter((call) => call.status === 'complete').length;
  if (complete !== episode.turns) {
    problems.push(`the episode counted ${episode.turns} complete calls, ${complete} are recorded`);
  }
  for (const id of byId.keys()) damagedIds.delete(id);
  return { calls, damagedIds: [...damagedIds].sort(), resent, problem: problems[0] ?? null };
}

/** Failed calls that a resend of the same request made good; resends may name the first call or the one before them. */
function completedResends(calls: ResolvedCall[], byId: Map<string, ResolvedCall>): Set<string> {
  const root = (call: ResolvedCall): string => {
    const seen = new Set([call.id]);
    let first = call;
    for (let earlier = before(first); earlier && !seen.has(earlier.id); earlier = before(first)) {
      seen.add(earlier.id);
      first = earlier;
    }
    return first.id;
  };
  const before = (call: ResolvedCall) => (call.retryOf === null ? undefined : byId.get(call.retryOf));
  const madeGood = new Set(calls.filter((call) => call.status === 'complete' && before(call)).map(root));
  const failed = calls.filter((call) => call.status !== 'complete' && call.status !== 'limit');
  return new Set(failed.filter((call) => madeGood.has(root(call))).map((call) => call.id));
}

function tokenProblem(call: ResolvedCall): string | null {
  if (call.untrainable !== undefined) return `may not be trained on: ${call.untrainable}`;
  if (call.promptTokenIds === null || call.promptTokenIds.length === 0) return 'has no prompt token ids';
  if (call.responseTokenIds === null) return 'has no response token ids';
  if (call.logprobs === null) return 'has no log-probs';
  if (call.logprobs.length !== call.responseTokenIds.length) {
    return `has ${call.responseTokenIds.length} response tokens but ${call.logprobs.length} log-probs`;
  }
  const broken = call.logprobs.findIndex((logprob) => !Number.isFinite(logprob));
  return broken < 0 ? null : `has no finite log-prob at response token ${broken}`;
}

const resendRank = (call: ResolvedCall) => (call.retryOf === null ? 0 : 1);
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
