/** How runs and what is in them are worded. */
import { l10n, ThemeColor, ThemeIcon } from 'vscode';
import type { CallSummary, GroupSummary, RunSummary } from '../../protocol/daemon.ts';
import type { ProgressTick, Stage } from '../../protocol/journal.ts';
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord, SampleRecord } from '../../protocol/records.ts';
import type { SectionTally } from '../../protocol/run-state.ts';

export function stateWord({ state, stopping }: Pick<RunSummary, 'state' | 'stopping'>): string {
  if (state === 'running' && stopping !== 'none') return l10n.t('stopping');
  switch (state) {
    case 'running':
      return l10n.t('running');
    case 'stopped':
      return l10n.t('stopped');
    case 'failed':
      return l10n.t('failed');
    case 'interrupted':
      return l10n.t('interrupted');
    case 'finished':
      return l10n.t('finished');
    case 'damaged':
      return l10n.t('damaged');
    case 'newer':
      return l10n.t('of a newer version');
  }
}

/** `finished`, and whether a part of the run cannot be read. */
export function runWords(summary: Pick<RunSummary, 'state' | 'stopping' | 'unread'>): string {
  const word = stateWord(summary);
  return summary.unread === null ? word : l10n.t('{0}, a part cannot be read', word);
}

/** Whether there is anything to be opened in a run. */
export function isReadable({ state }: Pick<RunSummary, 'state'>): boolean {
  return state !== 'damaged' && state !== 'newer';
}

export function stageWord(stage: Stage): string {
  switch (stage) {
    case 'teacher':
      return l10n.t('teacher episodes');
    case 'sft':
      return l10n.t('fine-tuning');
    case 'rl':
      return l10n.t('reinforcement learning');
    case 'evaluate':
      return l10n.t('evaluation');
  }
}

/** `round 2: 12/40 episodes`; what the label says already is not said again. */
export function progressWords({ label, unit, done, total }: ProgressTick): string {
  return `${label}: ${done}/${total}${label.endsWith(unit) ? '' : ` ${unit}`}`;
}

/** What a run at work is about, and whether it was asked to stop: `stopping, round 2: 12/40 episodes`. */
export function workWords({ stopping }: Pick<RunSummary, 'stopping'>, doing: string): string {
  return stopping === 'none' ? doing : l10n.t('stopping, {0}', doing);
}

export function runIcon({ state, unread }: Pick<RunSummary, 'state' | 'unread'>): ThemeIcon {
  if (unread !== null && state !== 'running') return new ThemeIcon('warning', new ThemeColor('testing.iconFailed'));
  switch (state) {
    case 'running':
      return new ThemeIcon('sync~spin');
    case 'finished':
      return new ThemeIcon('pass', new ThemeColor('testing.iconPassed'));
    case 'failed':
    case 'damaged':
      return new ThemeIcon('error', new ThemeColor('testing.iconFailed'));
    case 'newer':
      return new ThemeIcon('warning', new ThemeColor('testing.iconSkipped'));
    case 'stopped':
    case 'interrupted':
      return new ThemeIcon('debug-pause');
  }
}

/** `teacher episodes`, `round 3`, `evaluation of v2`, `validation of v1, checkpoint 3` */
export function sectionWord(section: string): string {
  const [kind, name] = section.split('/');
  if (kind === 'rounds') return l10n.t('round {0}', Number(name));
  if (kind === 'evaluations') return evaluationWord(name);
  return kind === 'teacher' ? l10n.t('teacher episodes') : section;
}

/** By what is evaluated: several checkpoints of a fine-tuning are told apart by their number. */
function evaluationWord(id: string): string {
  const [, what, version, checkpoint] = /^(evaluation|validation)-v(\d+)(?:-k(\d+))?$/.exec(id) ?? [];
  if (version === undefined) return l10n.t('evaluation {0}', id);
  const words =
    what === 'evaluation'
      ? l10n.t('evaluation of v{0}', Number(version))
      : l10n.t('validation of v{0}', Number(version));
  return checkpoint === undefined ? words : l10n.t('{0}, checkpoint {1}', words, Number(checkpoint));
}

/** `12 episodes, 5 solved, 1 invalid`, and how many cannot be read besides. */
export function tallyWords({
  episodes,
  successes,
  invalid,
  unread = 0,
}: Pick<SectionTally, 'episodes' | 'successes' | 'invalid'> & { unread?: number }) {
  const words =
    episodes === 1
      ? l10n.t('1 episode, {0} solved', successes)
      : l10n.t('{0} episodes, {1} solved', episodes, successes);
  const parts = [words];
  if (invalid > 0) parts.push(l10n.t('{0} invalid', invalid));
  if (unread > 0) parts.push(l10n.t('{0} damaged', unread));
  return parts.join(', ');
}

/** Whether the rewards of a group differ shows in its icon: one without signal teaches nothing. */
export function groupIcon({ signal }: GroupSummary): ThemeIcon {
  return new ThemeIcon(signal === false ? 'circle-outline' : signal ? 'circle-filled' : 'layers');
}

export function episodeIcon(episode: Pick<EpisodeRecord, 'valid' | 'reward'>): ThemeIcon {
  if (!episode.valid) return new ThemeIcon('circle-slash', new ThemeColor('testing.iconSkipped'));
  return succeeded(episode)
    ? new ThemeIcon('pass', new ThemeColor('testing.iconPassed'))
    : new ThemeIcon('circle-large-outline', new ThemeColor('testing.iconFailed'));
}

/** Whether a call was trained on, and if not, whether it could have been; outside rounds only whether it is whole. */
export function callIcon(
  sample: Pick<SampleRecord, 'status'> | null,
  status: CallSummary['status'] = 'complete',
): ThemeIcon {
  if (status !== 'complete') return new ThemeIcon('warning', new ThemeColor('testing.iconFailed'));
  if (sample === null) return new ThemeIcon('comment');
  const [kind] = sample.status.split(':');
  if (kind === 'selected') return new ThemeIcon('comment', new ThemeColor('testing.iconPassed'));
  if (kind === 'not-selected') return new ThemeIcon('comment', new ThemeColor('testing.iconSkipped'));
  return new ThemeIcon('circle-slash', new ThemeColor('testing.iconSkipped'));
}

/** `reward 1, 12 turns`, or why the episode does not count. */
export function outcomeWords({
  valid,
  reward,
  turns,
  invalidReason,
}: Pick<EpisodeRecord, 'valid' | 'turns' | 'invalidReason'> & { reward: number | string }): string {
  if (!valid) return invalidReason ?? l10n.t('invalid');
  return turns === 1 ? l10n.t('reward {0}, 1 turn', reward) : l10n.t('reward {0}, {1} turns', reward, turns);
}

/** `get_observation, 812 + 34 tokens, selected` */
export function callWords({ tools, promptTokens, responseTokens, status, sample }: CallSummary): string {
  const parts = [...tools];
  if (promptTokens !== null && responseTokens !== null)
    parts.push(l10n.t('{0} + {1} tokens', promptTokens, responseTokens));
  if (status !== 'complete') parts.push(status);
  if (sample) parts.push(sample.status);
  return parts.join(', ');
}

/** `tabletop_goal-4, state 17, attempt 2, turn 3`: what a call's id says. */
export function callName(id: string): string {
  const [, task, init, attempt, turn] = /\.([\w-]+)\.i(\d+)\.a(\d+)\.\d+\.c(\d+)/.exec(id) ?? [];
  return task === undefined ? id : l10n.t('{0}, state {1}, attempt {2}, turn {3}', task, init, attempt, turn);
}

/** `tabletop_goal-4, state 17, attempt 2`: what an episode's id says. */
export function episodeName(id: string): string {
  const [, task, init, attempt] = /\.([\w-]+)\.i(\d+)\.a(\d+)\.\d+$/.exec(id) ?? [];
  return task === undefined ? id : l10n.t('{0}, state {1}, attempt {2}', task, init, attempt);
}

/** `selected, advantage +0.500` */
export function sampleWords({ status, advantage }: SampleRecord): string {
  if (advantage === null) return status;
  return l10n.t('{0}, advantage {1}', status, `${advantage > 0 ? '+' : ''}${advantage.toFixed(3)}`);
}
