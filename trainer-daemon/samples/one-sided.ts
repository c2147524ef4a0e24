/** Actions that a round trains on only where they failed, because they come after success and such calls are dropped. */
import type { ResolvedCall, SampleRecord } from '../../protocol/records.ts';
import type { Notices } from './notices.ts';
import { STATUS } from './reasons.ts';

/** Fewer cases tell nothing. */
const CASES = 3;
/** An action is as good as never rewarded when this share of its good cases, or less, is trained on. */
const HARDLY = 0.1;

interface Cases {
  /** First of those with a positive advantage that were dropped. */
  first: string;
  dropped: number;
  rewarded: number;
  punished: number;
}

/**
 * Counts, by the tool that a response calls first, what eq. 4's sign says of it. With `rl.postSuccess: drop` the call that
 * ends a solved episode is never among the samples, while the same call in a failed episode is: in rounds of the embedded
 * world that took ending after a good look from 73 to 39 of 100 (bench/results/learning-notes.md).
 */
export class OneSided {
  private readonly actions = new Map<string, Cases>();

  add(call: ResolvedCall, { status, advantage }: SampleRecord): void {
    if (!advantage || (status !== STATUS.selected && status !== STATUS.afterSuccess)) return;
    const tool = call.response?.toolCalls[0]?.function.name;
    const action = tool === undefined ? 'an answer without a tool call' : `the tool ${tool}`;
    const cases = this.actions.get(action) ?? { first: '', dropped: 0, rewarded: 0, punished: 0 };
    this.actions.set(action, cases);
    if (status === STATUS.selected) cases[advantage > 0 ? 'rewarded' : 'punished']++;
    else if (advantage > 0 && ++cases.dropped === 1) cases.first = call.id;
  }

  tell(notices: Notices): void {
    for (const [action, { first, dropped, rewarded, punished }] of this.actions) {
      if (dropped < CASES || punished === 0 || rewarded > HARDLY * (rewarded + dropped)) continue;
      notices.add(
        `${action} is trained on nearly only where it failed (${punished} times): ${dropped} times it came after success and was dropped; set rl.postSuccess to keep`,
        first,
      );
    }
  }
}
