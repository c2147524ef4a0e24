/** The list of a run's episodes, to pick one from. */
import { plural } from '../output/format.ts';
import type { Candidate } from './choose.ts';
import { padTo } from './columns.ts';
import type { Key, Line, View } from './full-screen.ts';
import { PICKER_HELP, PICKER_HINTS } from './keys.ts';
import { messageRows } from './rows.ts';
import { shownNumber } from './words.ts';

const HEAD = 2;
const FOOT = 1;

export class EpisodePicker implements View<Candidate | 'quit'> {
  private readonly run: string;
  private readonly all: readonly Candidate[];
  private chosen = 0;
  private first = 0;
  private page = 1;
  private filter = '';
  private typing = false;
  private helping = false;

  constructor(run: string, all: readonly Candidate[]) {
    this.run = run;
    this.all = all;
  }

  async key({ name, text }: Key): Promise<Candidate | 'quit' | undefined> {
    if (this.helping) {
      this.helping = false;
      // What goes back to the list does nothing else there; other keys do.
      if (text === 'q' || text === '?' || ['escape', 'return', 'enter'].includes(name)) return undefined;
    }
    const listed = this.listed();
    if (name === 'return' || name === 'enter') {
      if (!this.typing || listed.length === 1) return listed[this.chosen];
      this.typing = false;
    } else if (name === 'escape') {
      this.typing = false;
      this.filterBy('');
    } else if (this.typing && name === 'backspace') this.filterBy([...this.filter].slice(0, -1).join(''));
    else if (this.typing && text !== '') this.filterBy(this.filter + text);
    else if (text === 'q') return 'quit';
    else if (text === '/') this.typing = true;
    else if (text === '?') this.helping = true;
    else this.chosen += stepOf(name, text, this.page, listed.length);
    this.chosen = Math.max(0, Math.min(listed.length - 1, this.chosen));
    return undefined;
  }

  async frame(rows: number, columns: number): Promise<Line[]> {
    const listed = this.listed();
    this.page = Math.max(1, rows - HEAD - FOOT);
    this.first = Math.max(0, Math.min(this.first, this.chosen, listed.length - this.page));
    this.first = Math.max(this.first, this.chosen - this.page + 1);
    const visible = listed.slice(this.first, this.first + this.page);
    const width = Math.max(7, ...visible.map(({ section }) => section.length));
    const lines: Line[] = visible.map((one, k) => {
      const here = this.first + k === this.chosen;
      return [{ text: `${here ? '>' : ' '} ${rowOf(one, width)}`, style: here ? 'bold' : 'plain' }];
    });
    if (this.helping) lines.splice(0, lines.length, ...this.help(columns));
    while (lines.length < this.page) lines.push([]);
    const filter = this.typing || this.filter !== '' ? ` · with "${this.filter}${this.typing ? '▏' : ''}"` : '';
    return [
      [{ text: `${this.run} · ${plural(listed.length, 'episode')}${filter}`, style: 'bold' }],
      [{ text: '─'.repeat(columns), style: 'dim' }],
      ...lines,
      [{ text: PICKER_HINTS, style: 'dim' }],
    ];
  }

  private help(columns: number): Line[] {
    return messageRows(PICKER_HELP, columns)
      .slice(0, this.page)
      .map(({ line }) => line);
  }

  private listed(): readonly Candidate[] {
    const wanted = this.filter.toLowerCase();
    return wanted === '' ? this.all : this.all.filter((one) => rowOf(one, 0).toLowerCase().includes(wanted));
  }

  private filterBy(text: string): void {
    this.filter = text;
    this.chosen = 0;
  }
}

function stepOf(name: string, text: string, page: number, all: number): number {
  if (name === 'down' || text === 'j') return 1;
  if (name === 'up' || text === 'k') return -1;
  if (name === 'pagedown' || name === 'space') return page;
  if (name === 'pageup') return -page;
  return name === 'home' ? -all : name === 'end' ? all : 0;
}

const WITHOUT_OUTCOME = { ended: '', damaged: 'damaged', running: 'running', unfinished: 'no record' };

function rowOf({ section, id, state, task, init, attempt, reward, valid, turns }: Candidate, width: number): string {
  const head = padTo(section, Math.max(width, section.length));
  if (reward === null || turns === null) return `${head}  ${WITHOUT_OUTCOME[state]}  ${id}`;
  const how = valid ? `reward ${shownNumber(reward)}` : 'invalid';
  return `${head}  ${padTo(how, 10)}${padTo(plural(turns, 'turn'), 10)}${task} · state ${init} · attempt ${attempt}`;
}
