/** The texts that frames and breakpoints point into: transcripts, code that a planner wrote, and the adapter. */
import { basename } from 'node:path';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { isDamaged } from '../../../recordings/index.ts';
import {
  type Part,
  parseTranscriptUri,
  raisingLine,
  type TranscriptView,
  transcriptUri,
} from '../../../recordings/replay/index.ts';
import type { ReplaySession } from '../session.ts';
import type { AdapterLink } from './adapter-link.ts';

/** A text of a session. */
export type Place =
  | { kind: 'transcript'; thread: number; view?: TranscriptView }
  | { kind: 'cell'; thread: number; call: number; action: number }
  | { kind: 'adapter' };

/** A position that a line stands for; the whole thread for the adapter, whose outcome is that of every episode. */
export interface LineTarget {
  thread: number | undefined;
  call: number | undefined;
  part: Part;
  /** The line that was meant, where the one asked for has nothing of its own. */
  line: number;
}

/** Views that are transcripts, with the lines of each part. */
const WITH_PARTS = ['full', 'from'];

export class Sources {
  private readonly session: ReplaySession;
  private readonly documents: boolean;
  private readonly link: AdapterLink | undefined;
  /** By reference, counted from 1; only for clients that open no documents. */
  private readonly references: Place[] = [];

  constructor(session: ReplaySession, documents: boolean, link: AdapterLink | undefined) {
    this.session = session;
    this.documents = documents;
    this.link = link;
  }

  /** The source that shows a place, as a client opens it. */
  async sourceOf(place: Place): Promise<Dap.Source> {
    if (place.kind === 'adapter') return { name: basename(this.link?.path ?? ''), path: this.link?.path };
    const uri = await this.uriOf(place);
    const name = decodeURIComponent(uri.split('?')[0].split('/').at(-1) ?? '');
    if (this.documents) return { name, path: uri };
    return { name, sourceReference: this.referenceOf(place) };
  }

  /** Frame of an action or call: where it stands, and the line in it (1-based). */
  async lineOf(thread: number, call: number, part: Part): Promise<{ place: Place; line: number }> {
    if (part === 'outcome' && this.link) return { place: { kind: 'adapter' }, line: this.link.line };
    const action = typeof part === 'number' ? await this.action(thread, call, part) : undefined;
    if (action && action.code !== null && typeof part === 'number') {
      return {
        place: { kind: 'cell', thread, call, action: part },
        line: raisingLine(action.code, action.result) ?? 1,
      };
    }
    const transcript = await this.session.transcript(thread);
    return { place: { kind: 'transcript', thread }, line: transcript.lineOf(call, part) ?? 1 };
  }

  /** What a line of a client's source stands for; a text where it is nothing of this session's, which says why. */
  async targetOf(source: Dap.Source, line: number): Promise<LineTarget | string> {
    const place = this.placeOf(source);
    if (typeof place === 'string') return place;
    if (place.kind === 'adapter') {
      return { thread: undefined, call: undefined, part: 'outcome', line: this.link?.line ?? line };
    }
    const { thread } = place;
    if (place.kind === 'cell') {
      const code = (await this.action(thread, place.call, place.action))?.code;
      if (code === undefined || code === null) return 'there is no code in this call';
      const last = code.replace(/\n$/, '').split('\n').length;
      return { thread, call: place.call, part: place.action, line: Math.min(Math.max(1, line), last) };
    }
    const transcript = await this.session.transcript(thread, place.view);
    const at = transcript.partAt(line);
    if (!at) return 'the episode has no calls yet';
    return { thread, ...at, line: transcript.lineOf(at.call, at.part) ?? line };
  }

  /** The text of a source, for the `source` request. */
  async textOf(source: Dap.Source): Promise<string> {
    const place = this.placeOf(source);
    if (typeof place === 'string' || place.kind === 'adapter') throw new Error('this is no text of the replay');
    if (place.kind === 'transcript') return (await this.session.transcript(place.thread, place.view)).text;
    return (await this.action(place.thread, place.call, place.action))?.code ?? '';
  }

  private placeOf({ path, sourceReference }: Dap.Source): Place | string {
    if (sourceReference) return this.references[sourceReference - 1] ?? 'there is no such source';
    if (path === undefined) return 'the source has no path';
    if (path === this.link?.path) return { kind: 'adapter' };
    const target = parseTranscriptUri(path);
    if (!target) return 'only transcripts, code of the planner and the reward of the adapter can be stopped at';
    const { directory, section } = this.session.target;
    const thread = this.session.episodes.findIndex(({ id }) => id === target.episode);
    if (target.directory !== directory || target.section !== section || thread < 0)
      return 'this episode is not part of the replay';
    const { cell, view } = target;
    if (cell) return { kind: 'cell', thread, ...cell };
    if (view && !WITH_PARTS.includes(view.mode))
      return 'this text is of one part of a call; stop at the call in the transcript';
    return { kind: 'transcript', thread, ...(view ? { view } : {}) };
  }

  private async uriOf(place: Exclude<Place, { kind: 'adapter' }>): Promise<string> {
    const { directory, section } = this.session.target;
    const { id: episode } = this.session.episodes[place.thread];
    if (place.kind === 'transcript')
      return transcriptUri({ directory, section, episode, ...(place.view ? { view: place.view } : {}) });
    const { call, action } = place;
    const found = await this.action(place.thread, call, action);
    const language = found?.kind === 'cell' ? found.name : undefined;
    return transcriptUri({ directory, section, episode, cell: { call, action } }, language);
  }

  private referenceOf(place: Place): number {
    const same = (one: Place) => JSON.stringify(one) === JSON.stringify(place);
    const known = this.references.findIndex(same);
    return known >= 0 ? known + 1 : this.references.push(place);
  }

  private async action(thread: number, call: number, index: number) {
    const episode = this.session.episodes[thread];
    if (call < 0 || call >= episode.length) return undefined;
    const told = await episode.call(call);
    return isDamaged(told.call) ? undefined : told.toolCalls[index];
  }
}
