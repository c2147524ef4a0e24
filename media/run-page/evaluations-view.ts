/** The final table: success of base, fine-tuned and RL planner by suite, with intervals and paired tests. */
import type { PageData, PagePaired, PageRate } from '../../extension/run-page/data.ts';
import { button, type Cell, element, table } from '../panel/elements.ts';
import { percent, probability, whole } from '../panel/formats.ts';
import { tell } from './tell.ts';
import { word } from './words.ts';

export function evaluationsView({ evaluations }: Pick<PageData, 'evaluations'>): HTMLElement {
  const title = element('h2', { id: 'title-evaluations' }, word('evaluations'));
  const made = element('section', { 'aria-labelledby': 'title-evaluations', id: 'evaluations' });
  if (evaluations === null || evaluations.planners.length === 0) {
    made.append(title, element('p', {}, word('noEvaluations')));
    return made;
  }
  const { planners, comparisons } = evaluations;
  const suites = [...new Set(planners.flatMap((planner) => Object.keys(planner.suites)))].sort();
  const row = (
    head: string,
    rate: (at: number) => PageRate | undefined,
    paired: (at: number) => PagePaired | undefined,
  ) => [
    { text: head, head: true },
    ...planners.map((_, at) => rateCell(rate(at))),
    ...comparisons.map((_, at) => pairedCell(paired(at))),
  ];
  const rows: Cell[][] = [
    ...suites.map((suite) =>
      row(
        suite,
        (at) => own(planners[at].suites, suite),
        (at) => own(comparisons[at].suites, suite),
      ),
    ),
    row(
      word('overall'),
      (at) => planners[at].overall,
      (at) => comparisons[at].overall,
    ),
    [
      { text: word('interval'), head: true },
      ...planners.map(({ overall }) => ({ text: intervalText(overall), number: true })),
      ...comparisons.map(() => ({ text: '' })),
    ],
    [
      { text: word('invalidLeftOut'), head: true },
      ...planners.map(({ invalid }) => ({ text: whole(invalid), number: true })),
      ...comparisons.map(() => ({ text: '' })),
    ],
  ];
  if (comparisons.length > 0)
    rows.push([
      { text: word('pairsHead'), head: true },
      ...planners.map(() => ({ text: '' })),
      ...comparisons.map(({ overall }) => ({
        text: word('pairs', whole(overall.wins), whole(overall.losses), whole(overall.pairs)),
        number: true,
      })),
    ]);
  const heads = [
    { text: word('suite') },
    ...planners.map(({ label }) => ({ text: label, number: true })),
    ...comparisons.map(({ a, b }) => ({ text: word('against', b, a), number: true })),
  ];
  const csv = word('saveCsv');
  made.append(
    element(
      'div',
      { class: 'title' },
      title,
      button(csv, () => tell({ type: 'export-csv', table: 'evaluations' }), {
        'aria-label': word('saveNamed', csv, word('evaluations')),
      }),
    ),
    table(word('tableOf', word('evaluations')), heads, rows),
    ...(comparisons.length > 0 ? [element('p', { class: 'note' }, word('signTest'))] : []),
  );
  return made;
}

/** Of names that come from records: one that an object has by nature is none. */
function own<T>(record: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function rateCell(rate: PageRate | undefined): Cell {
  if (!rate || rate.rate === null) return { text: '', number: true };
  return { text: `${percent(rate.rate)} (${whole(rate.successes)}/${whole(rate.episodes)})`, number: true };
}

function pairedCell(paired: PagePaired | undefined): Cell {
  return { text: paired ? probability(paired.p) : '', number: true };
}

function intervalText({ rate, low, high }: PageRate): string {
  return rate === null ? '' : `${percent(low)} – ${percent(high)}`;
}
