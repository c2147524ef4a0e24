/** Top of the page: which run, how it stands, its stages, and what it works on. */
import type { PageData } from '../../extension/run-page/data.ts';
import { bodyOf, element, headOf } from '../panel/elements.ts';
import { duration, moment, percent, whole } from '../panel/formats.ts';
import { word } from './words.ts';

export function headView({ head }: Pick<PageData, 'head'>): HTMLElement {
  const state = head.state === 'running' && head.stopping !== 'none' ? 'stopping' : head.state;
  const times = [
    ...(head.startedAt ? [word('started', moment(head.startedAt))] : []),
    ...(head.changedAt ? [word('lastEntry', moment(head.changedAt))] : []),
  ];
  const made = element(
    'header',
    {},
    element('h1', {}, head.name || head.run),
    element(
      'p',
      { class: 'state' },
      element('span', { class: `badge badge-${state}` }, word(state)),
      ...(head.unread === null ? [] : [' ', element('span', { class: 'badge' }, word('partUnread'))]),
      ` ${times.join(', ')}`,
    ),
    element('p', { class: 'note' }, head.directory),
  );
  if (head.problem !== null) made.append(element('p', { class: 'notice notice-error' }, head.problem));
  if (head.unread !== null)
    made.append(element('p', { class: 'notice notice-error' }, word('unreadBecause', head.unread)));
  if (head.connection !== null) made.append(element('p', { class: 'notice notice-warning' }, head.connection));
  return made;
}

export function stagesView({ stages, work }: Pick<PageData, 'stages' | 'work'>): HTMLElement {
  const rows = stages.map(({ stage, state, startedAt, seconds, share, secondsLeft }) => {
    const times = [
      ...(state === 'done' && seconds !== null ? [word('took', duration(seconds))] : []),
      ...(state === 'begun' && startedAt !== null ? [word('since', moment(startedAt))] : []),
      ...(secondsLeft !== null ? [word('left', duration(secondsLeft))] : []),
    ];
    return [
      { text: word(stage), head: true },
      { text: word(state) },
      share === null ? { text: '' } : bar(share, 1, word(stage)),
      { text: times.join(', ') },
    ];
  });
  const heads = (['stage', 'stateHead', 'progress', 'time'] as const).map((name) => ({ text: word(name) }));
  const made = element(
    'section',
    { 'aria-labelledby': 'title-stages' },
    element('h2', { id: 'title-stages' }, word('stages')),
    element('table', { class: 'stages' }, headOf(heads), bodyOf(rows)),
  );
  if (work !== null) {
    const words = `${work.label}: ${whole(work.done)} / ${whole(work.total)} ${work.unit}`;
    const left = work.secondsLeft === null ? '' : `, ${word('left', duration(work.secondsLeft))}`;
    made.append(
      element(
        'div',
        { class: 'work' },
        element('p', {}, word('work', words) + left),
        bar(work.done, work.total, work.label),
      ),
    );
  }
  return made;
}

export function warningsView({ head }: Pick<PageData, 'head'>): HTMLElement {
  if (head.warnings.length === 0) return element('div');
  const older = head.warningCount - head.warnings.length;
  return element(
    'section',
    { 'aria-labelledby': 'title-warnings' },
    element('h2', { id: 'title-warnings' }, word('warnings')),
    element('ul', { class: 'warnings' }, ...head.warnings.toReversed().map((text) => element('li', {}, text))),
    ...(older > 0 ? [element('p', { class: 'note' }, word('olderWarnings', whole(older)))] : []),
  );
}

function bar(value: number, most: number, label: string): HTMLElement {
  const share = most > 0 ? value / most : 0;
  return element(
    'span',
    { class: 'bar' },
    element('progress', { max: 1, value: share, 'aria-label': label }),
    ` ${percent(share)}`,
  );
}
