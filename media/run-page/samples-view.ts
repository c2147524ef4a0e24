/** Why calls were trained on or not, for one round or all. */
import type { PageData } from '../../extension/run-page/data.ts';
import { button, element, table } from '../panel/elements.ts';
import { percent, whole } from '../panel/formats.ts';
import { tell } from './tell.ts';
import { word, wordIfAny } from './words.ts';

/** 0: all rounds. It outlives the view, which is made anew with every change. */
let chosen = 0;

export function samplesView(data: Pick<PageData, 'rounds'>): HTMLElement {
  const rounds = data.rounds.filter(({ samples }) => Object.keys(samples).length > 0);
  const made = element('section', { 'aria-labelledby': 'title-samples', id: 'samples' });
  const title = element('h2', { id: 'title-samples' }, word('samples'));
  if (rounds.length === 0) {
    made.append(title, element('p', {}, word('noSamples')));
    return made;
  }
  if (!rounds.some(({ round }) => round === chosen)) chosen = 0;
  const choice = element(
    'select',
    { id: 'samples-round' },
    ...[{ round: 0 }, ...rounds].map(({ round }) =>
      element('option', { value: round, selected: round === chosen }, round === 0 ? word('allRounds') : whole(round)),
    ),
  );
  const csv = word('saveCsv');
  made.append(
    element(
      'div',
      { class: 'title' },
      title,
      element('label', { for: 'samples-round' }, word('ofRound')),
      choice,
      button(csv, () => tell({ type: 'export-csv', table: 'samples' }), {
        'aria-label': word('saveNamed', csv, word('samples')),
      }),
    ),
  );
  let shown = tableOf(rounds);
  made.append(shown);
  choice.addEventListener('change', () => {
    chosen = Number(choice.value);
    const next = tableOf(rounds);
    shown.replaceWith(next);
    shown = next;
  });
  return made;
}

function tableOf(rounds: PageData['rounds']): HTMLElement {
  const counts = new Map<string, number>();
  for (const { round, samples } of rounds)
    if (chosen === 0 || round === chosen)
      for (const [status, calls] of Object.entries(samples)) counts.set(status, (counts.get(status) ?? 0) + calls);
  const all = [...counts.values()].reduce((sum, calls) => sum + calls, 0);
  const rows = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([status, calls]) => [
      { text: status, head: true },
      { text: wordIfAny(status) ?? '' },
      { text: whole(calls), number: true },
      { text: percent(all > 0 ? calls / all : 0), number: true },
    ]);
  const heads = [
    { text: word('status') },
    { text: word('meaning') },
    { text: word('calls'), number: true },
    { text: word('share'), number: true },
  ];
  return table(word('tableOf', word('samples')), heads, rows);
}
