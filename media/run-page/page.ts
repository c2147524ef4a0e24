/** The page as a whole: draws what the host told, and of a change only the parts that it touches. */
import { withChange } from '../../extension/run-page/changes.ts';
import type { PageData } from '../../extension/run-page/data.ts';
import type { PageChange, PageNews } from '../../extension/run-page/messages.ts';
import { PLOT_IDS, type PlotId, plotTable } from '../../extension/run-page/plots.ts';
import { element } from '../panel/elements.ts';
import { evaluationsView } from './evaluations-view.ts';
import { headView, stagesView, warningsView } from './head-view.ts';
import { PlotView } from './plot-view.ts';
import { samplesView } from './samples-view.ts';
import { word, wordIfAny } from './words.ts';

type Part = 'head' | 'stages' | 'evaluations' | 'samples' | 'warnings';

const VIEWS: Record<Part, (data: PageData) => HTMLElement> = {
  head: headView,
  stages: stagesView,
  evaluations: evaluationsView,
  samples: samplesView,
  warnings: warningsView,
};

export class Page {
  private readonly root: HTMLElement;
  private readonly news: HTMLElement;
  private data: PageData | undefined;
  private parts = {} as Record<Part, HTMLElement>;
  private plots = new Map<PlotId, PlotView>();
  private curves = element('div');
  private noCurves = element('p');

  constructor(root: HTMLElement, news: HTMLElement) {
    this.root = root;
    this.news = news;
  }

  /** Everything anew. */
  show(data: PageData): void {
    this.data = data;
    this.plots = new Map();
    for (const part of Object.keys(VIEWS) as Part[]) this.parts[part] = VIEWS[part](data);
    this.curves = element('div', { class: 'curves' });
    this.noCurves = element('p', {}, word('noCurves'));
    const { head, stages, evaluations, samples, warnings } = this.parts;
    const curves = element(
      'section',
      { 'aria-labelledby': 'title-curves' },
      element('h2', { id: 'title-curves' }, word('curves')),
      this.noCurves,
      this.curves,
    );
    this.root.replaceChildren(head, stages, evaluations, curves, samples, warnings);
    this.showCurves();
  }

  /** A part of it. Before the first snapshot there is nothing to change. */
  change({ parts, steps, news }: PageChange): void {
    if (!this.data) return;
    const before = this.data;
    const after = withChange(before, { parts, steps });
    this.data = after;
    if (parts.head) this.renew('head');
    if (differ(before.head.warnings, after.head.warnings)) this.renew('warnings');
    if (parts.stages || parts.work !== undefined) this.renew('stages');
    if (parts.evaluations !== undefined) this.renew('evaluations');
    // Rounds change with every episode; a list that is open at the time must not close for it.
    if (differ(samplesOf(before), samplesOf(after))) this.renew('samples');
    if (parts.rounds || steps) this.showCurves();
    if (news.length > 0) this.news.textContent = news.map(newsText).join('. ');
  }

  /** In the colours of a theme that has just come. */
  redraw(): void {
    for (const plot of this.plots.values()) plot.draw();
  }

  private renew(...parts: Part[]): void {
    if (!this.data) return;
    for (const part of parts) {
      const next = VIEWS[part](this.data);
      // Whoever is in the part by keyboard stays at the same place of it.
      const place = focusable(this.parts[part]).indexOf(document.activeElement as HTMLElement);
      this.parts[part].replaceWith(next);
      this.parts[part] = next;
      if (place >= 0) focusable(next)[place]?.focus();
    }
  }

  /** Plots come when they have their first point, in the order of the ids. */
  private showCurves(): void {
    if (!this.data) return;
    for (const [place, id] of PLOT_IDS.entries()) {
      const table = plotTable(this.data, id);
      const known = this.plots.get(id);
      if (known) known.update(table);
      else if (table.rows.length > 0) {
        const view = new PlotView(table);
        this.plots.set(id, view);
        const later = PLOT_IDS.slice(place + 1).flatMap((one) => this.plots.get(one)?.element ?? []);
        this.curves.insertBefore(view.element, later[0] ?? null);
        view.draw();
      }
    }
    this.noCurves.hidden = this.plots.size > 0;
  }
}

function samplesOf({ rounds }: PageData): unknown {
  return rounds.map(({ round, samples }) => [round, samples]);
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}

function focusable(part: HTMLElement): HTMLElement[] {
  return [...part.querySelectorAll<HTMLElement>('button, select, [tabindex]')];
}

function newsText({ kind, values }: PageNews): string {
  // A stage is told by its word, policies as `v3`.
  const shown = kind === 'stage-done' ? values.map((stage) => wordIfAny(stage) ?? stage) : values;
  return wordIfAny(`news-${kind}`, ...shown) ?? shown.join(' ');
}
