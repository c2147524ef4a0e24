/** The replay on a screen: one call at a time, forwards and back, through the attempts of a group. */
import {
  EpisodeCursor,
  openReplayEpisode,
  type ReplayEpisode,
  type Rest,
  readTranscript,
  threadOf,
} from '../../recordings/replay/index.ts';
import { widthOf } from './columns.ts';
import type { Key, Line, View } from './full-screen.ts';
import { HELP, HINTS } from './keys.ts';
import { type BodyRow, callRows, messageRows, tokenRows } from './rows.ts';
import { creditWords, groupWords, outcomeWords } from './words.ts';

type Mode = 'text' | 'tokens' | 'help';
interface Prompt {
  kind: 'goto' | 'search';
  text: string;
}

/** Lines above the body: run, episode, credit, rule. */
const HEAD = 4;
/** Lines below: rule and keys. */
const FOOT = 2;
const LONGEST_PROMPT = 200;

export class ReplayViewer implements View<'quit'> {
  private readonly episodes: ReplayEpisode[];
  private readonly cursor: EpisodeCursor;
  private mode: Mode = 'text';
  /** The whole request is shown, not only what is new in it. */
  private whole = false;
  private scroll = 0;
  private prompt: Prompt | undefined;
  private message = '';
  private searched = '';
  /** Line of the call's text where the last search stopped. */
  private found: number | undefined;
  private interrupted = false;
  private page = 1;
  private body: { key: string; rows: BodyRow[] } | undefined;
  private changes = 0;

  /** @param call position to begin with. */
  constructor(first: ReplayEpisode, call?: number) {
    this.episodes = [first];
    this.cursor = new EpisodeCursor(threadOf(0, first));
    if (call !== undefined && call < first.length) this.cursor.goto({ thread: 0, call, part: 'call' });
  }

  private get episode(): ReplayEpisode {
    return this.episodes[this.cursor.position.thread];
  }

  /** @returns true when something new was written. */
  async refresh(): Promise<boolean> {
    if (!this.episode.open || !(await this.episode.refresh())) return false;
    this.changes++;
    const before = this.cursor.position;
    await this.cursor.grown();
    const { call, part } = this.cursor.position;
    if (call !== before.call || part !== before.part) this.moved('');
    return true;
  }

  interrupt(): void {
    this.interrupted = true;
  }

  async key(key: Key): Promise<'quit' | undefined> {
    this.interrupted = false;
    if (this.prompt) {
      await this.typed(this.prompt, key);
      return undefined;
    }
    this.message = '';
    if (this.mode === 'help') {
      this.switchTo('text');
      if (key.text === 'q' || key.text === '?' || key.name === 'escape') return undefined;
    }
    if (key.text === 'q') return 'quit';
    if (key.name === 'escape') this.switchTo('text');
    else await this.does(key);
    return undefined;
  }

  async frame(rows: number, columns: number): Promise<Line[]> {
    this.page = Math.max(1, rows - HEAD - FOOT);
    const body = await this.rows(columns);
    this.scroll = Math.max(0, Math.min(this.scroll, body.length - this.page));
    const visible = body.slice(this.scroll, this.scroll + this.page);
    const filled: Line[] = visible.map(({ line, source }) =>
      source === this.found ? line.map(({ text }) => ({ text, style: 'yellow' })) : line,
    );
    while (filled.length < this.page) filled.push([]);
    const last = Math.min(body.length, this.scroll + this.page);
    const place = body.length > this.page ? ` ${this.scroll + 1}-${last} of ${body.length} ` : '';
    return [
      ...(await this.head(columns)),
      ...filled,
      [{ text: `${'─'.repeat(Math.max(0, columns - widthOf(place) - 2))}${place}──`, style: 'dim' }],
      this.foot(),
    ];
  }

  private async head(columns: number): Promise<Line[]> {
    const { episode, cursor } = this;
    const { record } = episode.outcome;
    const { call, part } = cursor.position;
    const state = cursor.following ? 'following' : episode.open ? 'parked: end follows again' : '';
    const what = record ? [record.task, `state ${record.init}`, `attempt ${record.attempt}`] : [];
    const group = episode.group.length > 1 ? [`group ${groupWords(episode)}`] : [];
    const at =
      part === 'outcome'
        ? 'the outcome'
        : episode.length === 0
          ? 'no call yet'
          : `call ${call + 1} of ${episode.length}`;
    const credit = part === 'call' && call < episode.length ? creditWords(await episode.call(call)) : [];
    return [
      [
        { text: `${episode.recording.info.name} · ${episode.section} · `, style: 'dim' },
        { text: episode.id, style: 'bold' },
      ],
      [{ text: [...what, ...outcomeWords(episode), ...group].join(' · ') }],
      [
        { text: at, style: 'bold' },
        { text: ['', ...credit].join(' · ') },
        ...(state ? [{ text: ` · ${state}`, style: 'yellow' as const }] : []),
      ],
      [{ text: '─'.repeat(columns), style: 'dim' }],
    ];
  }

  private foot(): Line {
    if (this.prompt) return [{ text: `${this.prompt.kind === 'goto' ? 'turn: ' : '/'}${this.prompt.text}▏` }];
    if (this.message !== '') return [{ text: this.message, style: 'yellow' }];
    return [{ text: HINTS, style: 'dim' }];
  }

  /** What is shown of the call, broken to the columns. */
  private async rows(columns: number): Promise<BodyRow[]> {
    const { thread, call, part } = this.cursor.position;
    const key = JSON.stringify([thread, call, part, this.mode, this.whole, columns, this.changes]);
    if (this.body?.key !== key) this.body = { key, rows: await this.read(columns) };
    return this.body.rows;
  }

  private async read(columns: number): Promise<BodyRow[]> {
    if (this.mode === 'help') return messageRows(HELP, columns);
    const { episode } = this;
    const { call, part } = this.cursor.position;
    if (this.mode === 'tokens' && part === 'call' && call < episode.length)
      return tokenRows(episode, await episode.call(call), columns);
    const section = await this.section(part === 'outcome' ? episode.length : call);
    if (section) return callRows(section, columns);
    return messageRows([episode.open ? 'The episode has no call yet.' : 'There is no such call any more.'], columns);
  }

  /** The text of a call; of the outcome, for the position after the last call. */
  private async section(call: number) {
    const { episode } = this;
    const whole = this.whole ? 'all' : undefined;
    const range = call < episode.length ? { only: call } : { from: episode.length };
    return (await readTranscript(episode, whole, range)).sections[0];
  }

  private async does({ name, text }: Key): Promise<void> {
    const { cursor } = this;
    if (name === 'right' || text === 'l') this.moved(wordsOf(await cursor.stepForward(), this.episode));
    else if (name === 'left' || text === 'h') this.moved(wordsOf(await cursor.stepBack(), this.episode));
    else if (name === 'home') this.moved(wordsOf(await cursor.restart(), this.episode));
    else if (name === 'end') this.moved(wordsOf(await cursor.toEnd(), this.episode));
    else if (name === 'down' || text === 'j') this.scroll++;
    else if (name === 'up' || text === 'k') this.scroll--;
    else if (name === 'pagedown' || name === 'space') this.scroll += this.page;
    else if (name === 'pageup') this.scroll -= this.page;
    else if (text === 'n') await this.toAttempt(1);
    else if (text === 'p') await this.toAttempt(-1);
    else if (text === 't') this.switchTo(this.mode === 'tokens' ? 'text' : 'tokens');
    else if (text === 'c') {
      this.whole = !this.whole;
      this.switchTo('text');
    } else if (text === '?') this.switchTo('help');
    else if (text === 'g') this.prompt = { kind: 'goto', text: '' };
    else if (text === '/') this.prompt = { kind: 'search', text: '' };
  }

  private switchTo(mode: Mode): void {
    this.mode = mode;
    this.scroll = 0;
    this.found = undefined;
  }

  private moved(message: string): void {
    this.message = message;
    if (message !== '') return;
    this.scroll = 0;
    this.found = undefined;
  }

  private async typed(prompt: Prompt, { name, text }: Key): Promise<void> {
    if (name === 'escape') this.prompt = undefined;
    else if (name === 'backspace') {
      if (prompt.text === '') this.prompt = undefined;
      prompt.text = [...prompt.text].slice(0, -1).join('');
    } else if (name === 'return' || name === 'enter') {
      this.prompt = undefined;
      this.message = '';
      if (prompt.kind === 'goto') await this.gotoTurn(prompt.text);
      else await this.search(prompt.text);
    } else if (prompt.text.length < LONGEST_PROMPT) prompt.text += text;
  }

  private async gotoTurn(text: string): Promise<void> {
    const { thread } = this.cursor.position;
    if (text.trim() === '') return;
    const turn = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
    const call = turn === undefined ? undefined : this.episode.positionOf(turn);
    if (call === undefined) {
      this.message = turn === undefined ? `"${text}" is no number of a turn` : `the episode has no turn ${turn}`;
      return;
    }
    await this.cursor.goto({ thread, call, part: 'call' });
    this.moved('');
  }

  /** Goes to the next attempt of the group at the same call, or as far as it goes. */
  private async toAttempt(by: 1 | -1): Promise<void> {
    const { episode, cursor } = this;
    const at = episode.group.findIndex(({ id }) => id === episode.id);
    const next = at < 0 ? undefined : episode.group[at + by];
    if (!next) {
      const none = episode.group.length > 1 ? (by > 0 ? 'this is the last attempt' : 'this is the first attempt') : '';
      this.message = none || 'there is no other attempt at this task and state';
      return;
    }
    let thread = this.episodes.findIndex(({ id }) => id === next.id);
    if (thread < 0) {
      const opened = await openReplayEpisode(episode.recording, episode.section, next.id).catch(
        (error: Error) => error,
      );
      if (opened instanceof Error) {
        this.message = opened.message;
        return;
      }
      thread = this.episodes.push(opened) - 1;
      cursor.addThread(threadOf(thread, opened));
    }
    const call = Math.max(0, Math.min(cursor.position.call, this.episodes[thread].length - 1));
    await cursor.goto({ thread, call, part: 'call' });
    this.moved('');
  }

  /** To the next place of a text, in this call below the last one, then in the calls after it, then from the start. */
  private async search(text: string): Promise<void> {
    const wanted = (text || this.searched).toLowerCase();
    if (wanted === '') return;
    this.searched = wanted;
    const { episode } = this;
    const { thread, call, part } = this.cursor.position;
    const positions = episode.length + (episode.open ? 0 : 1);
    const start = part === 'outcome' ? episode.length : call;
    for (let k = 0; k <= positions; k++) {
      if (this.interrupted) {
        this.message = 'the search was ended';
        return;
      }
      const position = (start + k) % positions;
      const lines = (await this.section(position))?.lines ?? [];
      const from = k === 0 ? (this.found ?? -1) + 1 : 0;
      const line = lines.findIndex((one, at) => at >= from && one.toLowerCase().includes(wanted));
      if (line < 0) continue;
      const outcome = position >= episode.length;
      if (k > 0)
        await this.cursor.goto({
          thread,
          call: outcome ? Math.max(0, episode.length - 1) : position,
          part: outcome ? 'outcome' : 'call',
        });
      this.mode = 'text';
      this.found = line;
      this.message = `"${wanted}" in line ${line + 1}; / and return go on`;
      const rows = await this.rows(this.columnsNow());
      this.scroll = Math.max(
        0,
        rows.findIndex(({ source }) => source === line),
      );
      return;
    }
    this.message = `"${wanted}" is nowhere in the episode`;
  }

  private columnsNow(): number {
    return this.body ? Number(JSON.parse(this.body.key)[5]) : 80;
  }
}

function wordsOf({ reason }: Rest, { open }: ReplayEpisode): string {
  if (reason === 'start') return 'this is the first call';
  return reason === 'end' ? (open ? 'nothing further yet' : 'this is the end of the episode') : '';
}
