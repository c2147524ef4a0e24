/** One plot of the page with its legend, the point that is read, and its table. */
import type uPlot from 'uplot';
import type { PlotId, PlotTable } from '../../extension/run-page/plots.ts';
import { bodyOf, button, element, table } from '../panel/elements.ts';
import { whole } from '../panel/formats.ts';
import { currentTheme } from '../panel/theme.ts';
import { valueText } from './columns.ts';
import { alignedData, curvesOf, drawCurves } from './curves.ts';
import { pictureOf } from './picture.ts';
import { tell } from './tell.ts';
import { word } from './words.ts';

/** Rows that are shown; of long curves the newest. */
const MOST_ROWS = 200;
/** Rows at the end that are looked at for changes. */
const CHANGING = 200;

export class PlotView {
  readonly element: HTMLElement;
  private readonly id: PlotId;
  private readonly frame = element('div', { class: 'plot', tabindex: 0, role: 'group' });
  private readonly legend = element('ul', { class: 'legend' });
  private readonly point = element('p', { class: 'point' });
  private readonly rows: HTMLDivElement;
  private readonly note = element('p', { class: 'note' });
  private plot: PlotTable;
  private drawn: uPlot | undefined;
  private read: number | null = null;

  constructor(plot: PlotTable) {
    this.id = plot.id;
    this.plot = plot;
    const title = word(plot.id);
    this.frame.setAttribute('aria-label', word('plotHelp', title));
    this.frame.addEventListener('keydown', (event) => this.key(event));
    this.rows = table(word('tableOf', title), this.heads(), []);
    const heading = element('h3', { id: `title-${plot.id}` }, title);
    const named = (label: string) => ({ 'aria-label': word('saveNamed', label, title) });
    const csv = word('saveCsv');
    const png = word('savePng');
    this.element = element(
      'section',
      { class: 'figure', 'aria-labelledby': `title-${plot.id}`, 'data-plot': plot.id },
      element(
        'div',
        { class: 'title' },
        heading,
        button(csv, () => tell({ type: 'export-csv', table: this.id }), named(csv)),
        button(png, () => this.savePicture(), named(png)),
      ),
      element(
        'div',
        { class: 'beside' },
        element('div', { class: 'drawing' }, this.frame, this.legend, this.point),
        element('div', { class: 'values' }, this.rows, this.note),
      ),
    );
    new ResizeObserver(() => this.fit()).observe(this.frame);
  }

  /** Shows other rows. A part that was zoomed into and a point that is being read stay. */
  update(plot: PlotTable): void {
    const before = this.plot;
    this.plot = plot;
    // Most changes are of other plots. Rows only ever come at the end, and of a round only the newest ones change.
    const end = (rows: PlotTable['rows']) => JSON.stringify(rows.slice(-CHANGING));
    if (before.rows.length === plot.rows.length && end(before.rows) === end(plot.rows)) return;
    if (this.drawn) {
      const { min, max } = this.drawn.scales.x;
      const first = before.rows[0]?.[0] ?? 0;
      const last = before.rows.at(-1)?.[0] ?? 0;
      const zoomed = min !== undefined && max !== undefined && (min > first || max < last);
      this.drawn.setData(alignedData(plot), !zoomed);
      if (zoomed) this.drawn.redraw();
    }
    this.fillTable();
    this.showPoint(this.read !== null && this.read < plot.rows.length ? this.read : null);
  }

  /** Draws anew, in the colours of now. The element has to be on the page. */
  draw(): void {
    this.drawn?.destroy();
    const theme = currentTheme();
    this.drawn = drawCurves(
      this.frame,
      () => this.plot,
      theme,
      (row) => this.showPoint(row),
    );
    this.legend.replaceChildren(
      ...curvesOf(this.plot).map(({ at }, place) => {
        const mark = element('span', { class: `mark mark-${place % 4}`, 'aria-hidden': 'true' });
        mark.style.borderTopColor = theme.curves[place % theme.curves.length];
        return element('li', {}, mark, word(this.plot.columns[at].name));
      }),
    );
    this.fillTable();
  }

  private heads() {
    return this.plot.columns.map(({ name }) => ({ text: word(name), number: true }));
  }

  private fillTable(): void {
    const { columns, rows } = this.plot;
    const shown = rows.slice(-MOST_ROWS).reverse();
    const cells = shown.map((row) =>
      row.map((value, at) => ({ text: valueText(value, columns[at].kind), number: at > 0, head: at === 0 })),
    );
    this.rows.querySelector('tbody')?.replaceWith(bodyOf(cells));
    this.note.textContent = shown.length < rows.length ? word('newest', whole(shown.length), whole(rows.length)) : '';
  }

  /** Fits the drawing into a page that has become wider or narrower. */
  private fit(): void {
    const { drawn, frame } = this;
    const width = Math.max(200, frame.clientWidth);
    if (drawn && Math.abs(drawn.width - width) > 1) drawn.setSize({ width, height: drawn.height });
  }

  private showPoint(row: number | null): void {
    this.read = row;
    const { columns, rows } = this.plot;
    const values = row === null ? undefined : rows[row];
    this.point.textContent = values
      ? columns
          .flatMap(({ name, kind }, at) =>
            values[at] === null ? [] : [`${word(name)} ${valueText(values[at], kind)}`],
          )
          .join(', ')
      : '';
  }

  private key(event: KeyboardEvent): void {
    const { drawn } = this;
    const last = this.plot.rows.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: Math.max(0, (this.read ?? last + 1) - 1),
      ArrowRight: Math.min(last, (this.read ?? -1) + 1),
      Home: 0,
      End: last,
    };
    const to = places[event.key];
    if (to === undefined || !drawn || last < 0) return;
    event.preventDefault();
    // Said aloud where a person asks for it, not wherever the pointer passes.
    this.point.setAttribute('aria-live', 'polite');
    drawn.setCursor({ left: drawn.valToPos(this.plot.rows[to][0] ?? 0, 'x'), top: 0 });
    this.showPoint(to);
  }

  private savePicture(): void {
    if (!this.drawn) return;
    const labels = curvesOf(this.plot).map(({ at }) => word(this.plot.columns[at].name));
    const base64 = pictureOf(this.drawn.ctx.canvas, word(this.id), labels, currentTheme());
    tell({ type: 'export-png', plot: this.id, base64 });
  }
}
