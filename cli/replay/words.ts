/** What is known of a call besides its text, in words: credit, scores, target. */
import type { ScoreRecord } from '../../protocol/records.ts';
import type { ReplayCall, ReplayEpisode } from '../../recordings/replay/index.ts';

/** A number as it is shown: six digits say all that anybody reads. */
export function shownNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** Advantage, weight, length and what became of the call as a sample, then its scores, or its fate as a target. */
export function creditWords({ sample, scores, target, problems }: ReplayCall): string[] {
  const words: string[] = [];
  if (sample) {
    if (sample.advantage !== null) words.push(`advantage ${shownNumber(sample.advantage)}`);
    if (sample.u !== null) words.push(`u ${shownNumber(sample.u)}`);
    if (sample.responseLength !== null) words.push(`L ${sample.responseLength}`);
    words.push(sample.status);
  }
  const score = scores.at(-1);
  if (score) words.push(...scoreWords(score));
  if (target) words.push(target.status);
  if (problems.length > 0) words.push(`${problems.length} damaged`);
  return words;
}

function scoreWords({ step, w, clipped }: ScoreRecord): string[] {
  const words: string[] = [];
  if (w.length > 0) words.push(`w ${shownNumber(w.reduce((sum, one) => sum + one, 0) / w.length)}`);
  const cut = clipped.filter((flag) => flag > 0).length;
  if (cut > 0) words.push(`${cut} clipped`);
  return [...words, `step ${step}`];
}

/** How the episode ended. */
export function outcomeWords({ outcome: { record, reason }, open }: ReplayEpisode): string[] {
  if (!record) return [open ? 'being written' : (reason ?? '')];
  const words = [`reward ${shownNumber(record.reward)}`];
  if (!record.valid) words.push(`invalid: ${record.invalidReason ?? 'no reason was given'}`);
  else if (record.successTurn !== null) words.push(`success at turn ${record.successTurn}`);
  if (record.end !== 'exit') words.push(record.end);
  return words;
}

/** Rewards of the attempts at the same task and state; this one's in brackets, `-` for one that does not count. */
export function groupWords({ group, id }: ReplayEpisode): string {
  return group
    .map((one) => {
      const reward = one.valid ? shownNumber(one.reward) : '-';
      return one.id === id ? `[${reward}]` : reward;
    })
    .join(' ');
}
