/** Threads and frames: how episodes and positions in them are named, and which texts show them. */
import { basename } from 'node:path';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { isDamaged } from '../../../recordings/index.ts';
import { actionWords, type Part, type Position, shownInLine } from '../../../recordings/replay/index.ts';
import type { ReplaySession } from '../session.ts';
import type { AdapterLink } from './adapter-link.ts';
import type { Language } from './host.ts';
import { lineName, workspaceLines } from './named-files.ts';
import type { Sources } from './sources.ts';

export class Frames {
  private readonly session: ReplaySession;
  private readonly sources: Sources;
  private readonly link: AdapterLink | undefined;
  private readonly language: Language;
  private readonly folders: () => readonly string[];
  /** Positions of frames that were handed out since the last move, by id - 1. */
  private given: Position[] = [];

  /** @param folders whose files may be pointed into. */
  constructor(
    session: ReplaySession,
    sources: Sources,
    link: AdapterLink | undefined,
    language: Language,
    folders: () => readonly string[],
  ) {
    this.folders = folders;
    this.session = session;
    this.sources = sources;
    this.link = link;
    this.language = language;
  }

  /** Forgets the frames of a position that was left. */
  clear(): void {
    this.given = [];
  }

  /** Where a frame stands; undefined for one of a position that was left. */
  positionOf(frameId: number): Position | undefined {
    return this.given[frameId - 1];
  }

  /**
   * A tool call or cell, its call, and what gave the reward; lines are counted from 1. Where a tool call failed in files of
   * the workspace, their lines stand above it, as they were called.
   */
  async stackOf({ thread, call, part }: Position): Promise<Dap.StackFrame[]> {
    const outer: Part[] = part === 'call' ? ['outcome'] : ['call', 'outcome'];
    const parts: Part[] = part === 'outcome' ? ['outcome'] : [part, ...outer];
    const frames: Dap.StackFrame[] = await this.calledBy({ thread, call, part });
    for (const one of parts) {
      // An episode that goes on has no outcome to show.
      if (one === 'outcome' && this.session.episodes[thread].open) continue;
      const position = { thread, call, part: one };
      const { place, line } = await this.sources.lineOf(thread, call, one);
      const [name, source] = [await this.nameOf(position), await this.sources.sourceOf(place)];
      const hint = one === 'outcome' && part !== 'outcome' ? { presentationHint: 'subtle' as const } : {};
      frames.push({ id: this.given.push(position), name, source, line, column: 1, ...hint });
    }
    return frames;
  }

  private async calledBy(position: Position): Promise<Dap.StackFrame[]> {
    const { thread, call, part } = position;
    if (typeof part !== 'number') return [];
    const told = await this.session.episodes[thread].call(call);
    const result = isDamaged(told.call) ? null : (told.toolCalls[part]?.result ?? null);
    // The cell or tool call itself is what one looks at first.
    return (await workspaceLines(result, this.folders())).map((at) => ({
      ...{ id: this.given.push(position), name: lineName(at), line: at.line, column: 1, presentationHint: 'subtle' },
      source: { name: basename(at.path), path: at.path, presentationHint: 'deemphasize' },
    }));
  }

  threadName(thread: number): string {
    const l10n = this.language;
    const episode = this.session.episodes[thread];
    const { record } = episode.outcome;
    if (!record) return shownInLine(episode.id);
    const { attempt, reward, valid, init } = record;
    const task = shownInLine(record.task);
    // What tells the attempts of a group apart comes first: the view is narrow.
    return valid
      ? l10n.t('attempt {0}: reward {1} ({2}, state {3})', attempt, reward, task, init)
      : l10n.t('attempt {0}: invalid ({1}, state {2})', attempt, task, init);
  }

  /** `turn 3`, `outcome: reward 1` */
  wordsOf({ thread, call, part }: Position): string {
    const l10n = this.language;
    const episode = this.session.episodes[thread];
    if (part === 'outcome') {
      const { record } = episode.outcome;
      if (!record) return l10n.t('outcome: none was recorded');
      const words = l10n.t('outcome: reward {0}', record.reward);
      return this.link?.changed ? `${words} ${l10n.t('(the adapter has changed since)')}` : words;
    }
    if (call >= episode.length) return l10n.t('no call yet');
    const turn = episode.turnOf(call);
    return turn === null ? l10n.t('a damaged call') : l10n.t('turn {0}', turn);
  }

  private async nameOf(position: Position): Promise<string> {
    const { thread, call, part } = position;
    if (typeof part !== 'number') return this.wordsOf(position);
    const action = (await this.session.episodes[thread].call(call)).toolCalls[part];
    return action ? actionWords(action) : this.wordsOf(position);
  }
}
