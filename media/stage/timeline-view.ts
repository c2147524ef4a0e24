/** The calls in time: one column a call, as wide as it took, with its tokens and its advantage under it; and a table. */
import type { StageCall, StageEpisode, StagePosition } from '../../extension/replay/stage/data.ts';
import { Timeline } from '../../extension/replay/stage/timeline.ts';
import { button, type Cell, element, table } from '../panel/elements.ts';
import { figure, whole } from '../panel/formats.ts';
import { callLine, callWords, outcomeWords, seconds, signed } from './call-words.ts';
import { word } from './words.ts';

const MEASURES = ['simulated', 'latency', 'tokens', 'count'] as const;
type Measure = (typeof MEASURES)[number];
const MEASURE_WORDS = {
  simulated: 'bySimulated',
  latency: 'byLatency',
  tokens: 'byTokens',
  count: 'byCount',
} as const;
/** The narrowest column is so wide, of an average one. */
const NARROWEST = 0.25;

export class TimelineView {
  readonly element = element('section', { id: 'timeline', 'aria-labelledby': 'title-timeline' });
  private readonly go: (position: StagePosition) => void;
  private readonly measures = element('select', { id: 'measure' });
  private readonly columns = element('div', { class: 'columns', role: 'group' });
  private readonly head = element('div', { class: 'playhead', 'aria-hidden': 'true' });
  private readonly details = element('details', { id: 'calls-table' });
  private buttons: HTMLButtonElement[] = [];
  private episode: StageEpisode | undefined;
  private timeline = new Timeline([]);

  /** @param go asked for when a call is chosen. */
  constructor(go: (position: StagePosition) => void) {
    this.go = go;
    this.measures.addEventListener('change', () => this.size());
  }

  show(episode: StageEpisode, timeline: Timeline): void {
    this.episode = episode;
    this.timeline = timeline;
    if (this.element.childElementCount === 0) {
      this.lay();
      // Real harnesses know no simulated time.
      if (episode.calls.length > 0 && !episode.calls.some(({ interval }) => interval)) this.measures.value = 'latency';
    }
    const tallest = Math.max(1, ...episode.calls.map(({ responseTokens }) => responseTokens ?? 0));
    const furthest = Math.max(1e-9, ...episode.calls.map(({ advantage }) => Math.abs(advantage ?? 0)));
    this.buttons = episode.calls.map((call, at) => this.column(call, at, tallest, furthest));
    const end = button(
      outcomeWords(episode),
      () => this.go({ call: Math.max(0, episode.calls.length - 1), part: 'outcome' }),
      {
        id: 'to-outcome',
        class: 'column end',
        disabled: episode.open || episode.calls.length === 0,
      },
    );
    this.buttons.push(end);
    this.columns.replaceChildren(...this.buttons);
    const wide = this.details.open;
    this.details.replaceChildren(element('summary', {}, word('asTable')), callTable(episode));
    this.details.open = wide;
    this.size();
  }

  /** Marks where one stands. Only that column is reached by Tab; the arrows go on from there. */
  place(time: number, { call, part }: StagePosition): void {
    const current = part === 'outcome' ? this.buttons.length - 1 : call;
    this.buttons.forEach((one, at) => {
      if (at === current) one.setAttribute('aria-current', 'step');
      else one.removeAttribute('aria-current');
      one.tabIndex = at === current ? 0 : -1;
    });
    // Who is in the line by keyboard goes along.
    if (this.columns.contains(document.activeElement)) this.buttons[current].focus();
    const segment = this.timeline.segments[call];
    const column = this.buttons[call];
    if (!segment || !column) {
      this.head.remove();
      return;
    }
    const share = Math.min(1, Math.max(0, (time - segment.from) / (segment.to - segment.from)));
    // In the column itself, so that it goes along when columns change their width.
    if (this.head.parentElement !== column) column.append(this.head);
    this.head.style.left = `${100 * share}%`;
    const scroller = this.columns.parentElement;
    if (!scroller) return;
    const { offsetLeft, offsetWidth } = this.buttons[current];
    if (offsetLeft < scroller.scrollLeft) scroller.scrollLeft = offsetLeft - 8;
    else if (offsetLeft + offsetWidth > scroller.scrollLeft + scroller.clientWidth)
      scroller.scrollLeft = offsetLeft + offsetWidth - scroller.clientWidth + 8;
  }

  private lay(): void {
    this.columns.setAttribute('aria-label', word('timeline'));
    this.measures.replaceChildren(
      ...MEASURES.map((measure) => element('option', { value: measure }, word(MEASURE_WORDS[measure]))),
    );
    this.element.append(
      element(
        'div',
        { class: 'title' },
        element('h2', { id: 'title-timeline' }, word('timeline')),
        element('label', {}, `${word('measure')} `, this.measures),
      ),
      element(
        'div',
        { class: 'lanes' },
        element(
          'div',
          { class: 'lane-names', 'aria-hidden': 'true' },
          element('span', {}, word('calls')),
          element('span', {}, word('laneTokens')),
          element('span', {}, word('laneAdvantage')),
        ),
        element('div', { class: 'strip' }, this.columns),
      ),
      this.details,
    );
  }

  private column(call: StageCall, at: number, tallest: number, furthest: number): HTMLButtonElement {
    const line = callLine(call, at);
    const first = call.tools[0];
    const damaged = call.damaged !== null || call.unread.length > 0;
    const kind = damaged ? 'broken' : call.tools.some(({ failed }) => failed) ? 'failed' : 'fine';
    const made = button('', () => this.go({ call: at, part: 'call' }), {
      ...{ id: `call-${at}`, class: `column ${kind}`, title: line },
    });
    const tokens = bar('tokens', (call.responseTokens ?? 0) / tallest);
    const advantage = call.advantage ?? 0;
    const credit = bar(advantage < 0 ? 'advantage below' : 'advantage above', Math.abs(advantage) / furthest / 2);
    made.append(
      element(
        'span',
        { class: 'name' },
        element('b', {}, at + 1),
        ` ${first?.name ?? (call.damaged === null ? '–' : '✕')}`,
      ),
      element('span', { class: 'lane' }, tokens),
      element(
        'span',
        { class: 'lane credit' },
        credit,
        element('i', {}, call.advantage === null ? '' : signed(advantage)),
      ),
      element('span', { class: 'unseen' }, ` ${line}`),
    );
    return made;
  }

  /** Columns as wide as what is measured. */
  private size(): void {
    const calls = this.episode?.calls ?? [];
    const measure = this.measures.value as Measure;
    const values = calls.map((call) => measured(call, measure));
    const mean = values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length) || 1;
    values.forEach((value, at) => {
      this.buttons[at].style.flexGrow = String(Math.max(NARROWEST, value / mean));
    });
  }
}

function measured({ interval, latency, responseTokens }: StageCall, measure: Measure): number {
  if (measure === 'simulated') return interval ? interval.end - interval.start : 0;
  if (measure === 'latency') return latency ?? 0;
  return measure === 'tokens' ? (responseTokens ?? 0) : 1;
}

/** @param share of the lane's height. */
function bar(name: string, share: number): HTMLElement {
  const made = element('span', { class: `bar ${name}` });
  made.style.height = `${Math.round(100 * share)}%`;
  return made;
}

function callTable({ calls }: StageEpisode): HTMLElement {
  const heads: Cell[] = [
    { text: word('call'), number: true },
    { text: word('did') },
    { text: word('result') },
    { text: word('held') },
    { text: word('bySimulated'), number: true },
    { text: word('byLatency'), number: true },
    { text: word('promptTokens'), number: true },
    { text: word('laneTokens'), number: true },
    { text: word('laneAdvantage'), number: true },
    { text: word('sample') },
  ];
  const number = (value: number | null, text: (value: number) => string): Cell => ({
    text: value === null ? '' : text(value),
    number: true,
  });
  const rows = calls.map((call, at): Cell[] => [
    { text: whole(at + 1), head: true },
    { text: callWords(call) },
    { text: call.tools.map(({ result }) => (result ?? '').slice(0, 200)).join('; ') },
    { text: call.tools.findLast(({ held }) => held !== undefined)?.held ?? '' },
    number(call.interval && call.interval.end - call.interval.start, seconds),
    number(call.latency, seconds),
    number(call.promptTokens, whole),
    number(call.responseTokens, whole),
    number(call.advantage, figure),
    { text: call.sample ?? '' },
  ]);
  return table(word('asTable'), heads, rows);
}
