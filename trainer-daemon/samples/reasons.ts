/**
 * Status of a sample (design section 4). The reasons are given in the order in which they are checked: a call carries
 * the first one that applies.
 */
export const STATUS = {
  // The whole episode, before any of its calls is looked at.
  /** The episode is not one of the round's plan: another role, round, group or attempt. */
  notPlanned: 'zero-weight:not-planned',
  /** No reward came out of it (cancelled, adapter failed), or it has two records that contradict each other. */
  noOutcome: 'zero-weight:no-outcome',
  /** Infrastructure failure; not part of V_g. */
  invalidEpisode: 'zero-weight:invalid-episode',
  /** A later try of the same attempt is valid as well; only that one counts. */
  superseded: 'zero-weight:superseded',
  /** Gap in the turns, lost or damaged call, failed call that was not repaired by a resend, ids or log-probs missing. */
  incompleteRecord: 'zero-weight:incomplete-record',
  /** A call was answered by another version than the round's. */
  policyVersion: 'zero-weight:policy-version',

  // Calls that hold nothing to train on, but are no gap either.
  /** Cut by one of our own limits. */
  limit: 'ineligible:limit',
  /** Failed upstream; its resend completed and stands for it. */
  resent: 'ineligible:resent',

  /** The prompt rendered by the trainer's chat template differs from the recorded ids. */
  promptMismatch: 'zero-weight:prompt-mismatch',

  // The group (eq. 4).
  /** Fewer than two valid attempts. */
  tooFewValid: 'zero-weight:too-few-valid',
  /** All valid attempts have the same reward. */
  equalRewards: 'zero-weight:equal-rewards',

  // Eligibility.
  /** Finish reason is not stop, tool_calls or length. */
  finishReason: 'ineligible:finish-reason',
  /** The response holds no token, so eq. 5 has nothing to average. */
  emptyResponse: 'ineligible:empty-response',
  /** Prompt and response together exceed rl.maxTokens or the planner's context. */
  tooLong: 'ineligible:too-long',
  /** Given after the goal was reached, with rl.postSuccess: drop. */
  afterSuccess: 'ineligible:after-success',

  // Selection.
  notSelected: 'not-selected',
  selected: 'selected',
} as const;

export type SampleStatus = (typeof STATUS)[keyof typeof STATUS];
