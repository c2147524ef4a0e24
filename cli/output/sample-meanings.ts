/** What each status of a sample means, in a few words. */
import { type SampleStatus, STATUS } from '../../trainer-daemon/samples/reasons.ts';

const MEANINGS: Record<SampleStatus, string> = {
  [STATUS.selected]: 'trained on',
  [STATUS.notSelected]: 'eligible; others of its episode were chosen',
  [STATUS.notPlanned]: "its episode is not in the round's plan",
  [STATUS.noOutcome]: 'its episode has no outcome',
  [STATUS.invalidEpisode]: 'its episode failed for infrastructure reasons',
  [STATUS.superseded]: 'a later try of the same attempt counts',
  [STATUS.incompleteRecord]: 'a call of its episode is missing, damaged or without log-probs',
  [STATUS.policyVersion]: 'a call was answered by another policy version',
  [STATUS.limit]: 'cut by a limit of ours',
  [STATUS.resent]: 'failed at the server and was sent again',
  [STATUS.promptMismatch]: 'rendering the prompt again gave other tokens than recorded',
  [STATUS.tooFewValid]: 'its group has fewer than two valid attempts',
  [STATUS.equalRewards]: 'all attempts of its group earned the same',
  [STATUS.finishReason]: 'the response did not end normally',
  [STATUS.emptyResponse]: 'the response has no token',
  [STATUS.tooLong]: 'longer than rl.maxTokens or the context',
  [STATUS.afterSuccess]: 'given after the goal was reached',
};

/** Empty for a status that this version does not know. */
export function sampleMeaning(status: string): string {
  return Object.hasOwn(MEANINGS, status) ? MEANINGS[status as SampleStatus] : '';
}
