/**
 * The debug adapter of replay: shows a {@link ReplaySession} through the Debug Adapter Protocol. Threads are episodes,
 * frames are a tool call or cell of code, its planner call, and the outcome. It holds no position of its own: whoever moves
 * the cursor, a `stopped` tells of it.
 */
import {
  BreakpointEvent,
  InitializedEvent,
  InvalidatedEvent,
  OutputEvent,
  StoppedEvent,
  TerminatedEvent,
  ThreadEvent,
} from '@vscode/debugadapter';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { type FactPlace, levelOf, parseCondition, placeAt } from '../../../recordings/replay/facts.ts';
import { type Move, type Position, type Rest, shown, shownInLine } from '../../../recordings/replay/index.ts';
import type { Disposable } from '../../daemon/emitter.ts';
import type { ReplaySession } from '../session.ts';
import { adapterLink } from './adapter-link.ts';
import { type BreakpointHit, Breakpoints } from './breakpoints.ts';
import { completionsOf } from './completions.ts';
import { filterList } from './exception-filters.ts';
import { Frames } from './frames.ts';
import type { AdapterHost } from './host.ts';
import { checkLaunch, openLaunched } from './launch.ts';
import { type Handlers, ProtocolServer, type Reply, ShownError } from './protocol-server.ts';
import { Sources } from './sources.ts';
import { Variables } from './variables.ts';

/** What is there once an episode is open. */
interface Launched {
  session: ReplaySession;
  sources: Sources;
  breakpoints: Breakpoints;
  frames: Frames;
  turn: number | undefined;
  listeners: Disposable[];
}

/** Of a record that is told with a stop. */
const LONGEST_WORDS = 500;

export class ReplayDebugAdapter extends ProtocolServer {
  private readonly host: AdapterHost;
  private readonly values: Variables;
  private launched: Launched | undefined;
  private targets: Position[] = [];
  private client: Dap.InitializeRequestArguments = { adapterID: '' };
  private shown = false;
  private lastHit: { hit: BreakpointHit; position: Position } | undefined;

  constructor(host: AdapterHost) {
    super();
    this.host = host;
    this.values = new Variables(host.language);
    // What is no message is passed over; the conversation goes on.
    this.removeAllListeners('error');
    this.on('error', ({ body }: { body?: unknown }) => host.log(`replay: ${body}`));
  }

  /** Lets go of the session; nothing further is answered with its data. */
  async release(): Promise<void> {
    const { launched } = this;
    this.launched = undefined;
    for (const listener of launched?.listeners ?? []) listener.dispose();
    if (launched) await this.host.release(launched.session);
  }

  override dispose(): void {
    void this.release();
    super.dispose();
  }

  protected readonly handlers: Handlers = {
    initialize: async (args) => {
      this.client = args;
      return { body: this.capabilities() };
    },
    launch: async (args) => {
      if (this.launched) throw new Error('a replay is open already');
      const checked = checkLaunch(args);
      const session = await openLaunched(this.host, checked);
      try {
        await this.take(session, checked.group ?? false, checked.turn);
      } catch (error) {
        await this.release();
        throw error;
      }
      return { body: undefined, after: () => this.sendEvent(new InitializedEvent()) };
    },
    configurationDone: async () => {
      const { session, turn } = this.open();
      if (turn === undefined) return { body: undefined, after: () => this.enter() };
      const call = session.episodes[0].positionOf(turn) as number;
      return { body: undefined, after: () => this.go(session.cursor.goto({ thread: 0, call, part: 'call' }), 'entry') };
    },
    disconnect: async () => {
      await this.release();
      return { body: undefined, after: () => this.shutdown() };
    },
    terminate: async () => {
      await this.release();
      return { body: undefined, after: () => this.sendEvent(new TerminatedEvent()) };
    },
    restart: async () => {
      const { session } = this.open();
      return this.moving(() => session.cursor.restart());
    },

    setBreakpoints: async ({ source, breakpoints = [] }) => {
      const given = breakpoints.map((one) => ({ ...one, line: this.lineFrom(one.line) }));
      const set = await this.open().breakpoints.setLines(source, given);
      return { body: { breakpoints: set.map((one) => this.clientLine(one)) } };
    },
    setFunctionBreakpoints: async (args) => ({
      body: { breakpoints: this.open().breakpoints.setFunctions(args.breakpoints) },
    }),
    setDataBreakpoints: async (args) => ({ body: { breakpoints: this.open().breakpoints.setData(args.breakpoints) } }),
    setExceptionBreakpoints: async (args) => ({ body: { breakpoints: this.open().breakpoints.setFilters(args) } }),
    dataBreakpointInfo: async ({ variablesReference, name }) => {
      const path = variablesReference === undefined ? name : this.values.pathOf(variablesReference, name);
      return { body: this.dataInfo(path, name) };
    },
    exceptionInfo: async ({ threadId }) => {
      const { session, breakpoints } = this.open();
      const position = session.cursor.positionOf(threadId - 1);
      const hit = this.lastHit?.position === position ? this.lastHit.hit : undefined;
      const found = hit?.filter ? { filter: hit.filter, text: hit.text } : await breakpoints.exceptionAt(position);
      if (!found) throw new Error('nothing went wrong here');
      return { body: { exceptionId: found.filter, description: shown(found.text), breakMode: 'always' as const } };
    },

    threads: async () => {
      const { session, frames } = this.open();
      return {
        body: { threads: session.episodes.map((_, thread) => ({ id: thread + 1, name: frames.threadName(thread) })) },
      };
    },
    stackTrace: async ({ threadId, startFrame = 0, levels }) => {
      const { session, frames } = this.open();
      const all = await frames.stackOf(session.cursor.positionOf(threadId - 1));
      const shown = all.slice(startFrame, levels ? startFrame + levels : undefined).map((frame) => ({
        ...{ ...frame, line: this.lineTo(frame.line), column: this.lineTo(frame.column, 'column') },
      }));
      return { body: { stackFrames: shown, totalFrames: all.length } };
    },
    scopes: async ({ frameId }) => ({ body: { scopes: await this.values.scopes(await this.placeOf(frameId)) } }),
    variables: async (args) => ({ body: { variables: this.values.list(args) } }),
    evaluate: async ({ expression, frameId, context }) => ({
      body: await this.values.evaluate(expression, await this.placeOf(frameId), context === 'clipboard'),
    }),
    completions: async ({ text, column, frameId }) => ({
      body: { targets: await completionsOf(text, this.lineFrom(column, 'column'), await this.placeOf(frameId)) },
    }),
    source: async ({ source, sourceReference }) => ({
      body: { content: await this.open().sources.textOf(source ?? { sourceReference }), mimeType: 'text/plain' },
    }),

    continue: async ({ threadId }) => {
      const { session, breakpoints } = this.open();
      const after = () => this.go(session.cursor.continue(breakpoints.stopAt, threadId - 1));
      return { body: { allThreadsContinued: true }, after };
    },
    reverseContinue: async ({ threadId }) => {
      const { session, breakpoints } = this.open();
      return this.moving(() => session.cursor.reverseContinue(breakpoints.stopAt, threadId - 1));
    },
    next: async ({ threadId }) => this.moving(() => this.open().session.cursor.stepForward(threadId - 1)),
    stepIn: async ({ threadId }) => this.moving(() => this.open().session.cursor.stepIn(threadId - 1)),
    stepOut: async ({ threadId }) => this.moving(() => this.open().session.cursor.stepOut(threadId - 1)),
    stepBack: async ({ threadId, granularity }) =>
      this.moving(() => {
        const { cursor } = this.open().session;
        return granularity === 'instruction' ? cursor.stepInBack(threadId - 1) : cursor.stepBack(threadId - 1);
      }),
    pause: async () => {
      this.open().session.cursor.pause();
      return { body: undefined };
    },
    gotoTargets: async ({ source, line }) => {
      const { session, sources, frames } = this.open();
      const found = await sources.targetOf(source, this.lineFrom(line));
      if (typeof found === 'string') throw new Error(found);
      const thread = found.thread ?? session.cursor.position.thread;
      const call = found.call ?? Math.max(0, session.episodes[thread].length - 1);
      const id = this.targets.push({ thread, call, part: found.part });
      const label = frames.wordsOf({ thread, call, part: found.part });
      return { body: { targets: [{ id, label, line: this.lineTo(found.line) }] } };
    },
    goto: async ({ targetId }) => {
      const target = this.targets[targetId - 1];
      if (!target) throw new Error('there is no such place to go to');
      return this.moving(() => this.open().session.cursor.goto(target));
    },
  };

  private capabilities(): Dap.Capabilities {
    return {
      supportsConfigurationDoneRequest: true,
      supportsStepBack: true,
      supportsRestartRequest: true,
      supportsGotoTargetsRequest: true,
      supportsSteppingGranularity: true,
      supportsTerminateRequest: true,
      supportsConditionalBreakpoints: true,
      supportsHitConditionalBreakpoints: true,
      supportsFunctionBreakpoints: true,
      supportsDataBreakpoints: true,
      supportsLogPoints: true,
      supportsExceptionFilterOptions: true,
      supportsExceptionInfoRequest: true,
      exceptionBreakpointFilters: filterList(this.host.language),
      supportsEvaluateForHovers: true,
      supportsClipboardContext: true,
      supportsCompletionsRequest: true,
      completionTriggerCharacters: ['.'],
    };
  }

  private async take(session: ReplaySession, group: boolean, turn: number | undefined): Promise<void> {
    const link = await adapterLink(session.recording.info, this.host.folders());
    const sources = new Sources(session, this.host.documents, link);
    const breakpoints = new Breakpoints(session, sources, this.host.language, (text) => this.say(text));
    const frames = new Frames(session, sources, link, this.host.language, () => this.host.folders());
    this.launched = { session, sources, breakpoints, frames, turn, listeners: [] };
    if (turn !== undefined && session.episodes[0].positionOf(turn) === undefined) {
      const l10n = this.host.language;
      const { length } = session.episodes[0];
      throw new ShownError(l10n.t('The episode has no turn {0}; it has {1} calls', turn, length));
    }
    if (group) for (const problem of await session.loadGroup()) this.say(`${problem}\n`);
    this.threadsTold = session.episodes.length;
    this.launched.listeners.push(
      session.onDidMove((move) => this.moved(move)),
      session.onDidChange(() => {
        this.changed(session.episodes.length).catch((error: Error) => this.host.log(`replay: ${error.message}`));
      }),
      session.onDidClose(() => this.sendEvent(new TerminatedEvent())),
    );
  }

  private open(): Launched {
    if (!this.launched) throw new Error('no replay is open');
    return this.launched;
  }

  /** Moves once the request is answered. */
  private moving(move: () => Promise<Rest>): Reply<undefined> {
    this.open();
    return { body: undefined, after: () => this.go(move()) };
  }

  /** The `stopped` comes with the move; here only what kept it from moving is told. */
  private go(moving: Promise<Rest>, entry?: 'entry'): void {
    if (entry) this.entering = true;
    moving.catch((error: Error) => {
      this.say(`${error.message}\n`);
      if (this.launched) this.tellStopped(this.launched.session.cursor.position, 'pause');
    });
  }
  private entering = false;

  private enter(): void {
    this.tellStopped(this.open().session.cursor.position, 'entry');
  }

  private moved({ to, rest }: Move): void {
    this.lastHit = rest.reason === 'stop' ? { hit: rest.hit as BreakpointHit, position: to } : undefined;
    const entering = this.entering;
    this.entering = false;
    const { reason, words, text } = this.wordsOf(rest, to);
    this.tellStopped(to, entering ? 'entry' : reason, entering ? undefined : words, text);
  }

  private tellStopped(position: Position, reason: string, description?: string, text?: string): void {
    // References of what was left are of no use to anybody.
    this.open().frames.clear();
    this.values.clear();
    this.shown = true;
    const event: Dap.StoppedEvent = new StoppedEvent(reason, position.thread + 1);
    event.body.allThreadsStopped = true;
    if (description) event.body.description = shownInLine(description, LONGEST_WORDS);
    if (text) event.body.text = shownInLine(text, LONGEST_WORDS);
    if (this.lastHit?.hit.ids.length) event.body.hitBreakpointIds = this.lastHit.hit.ids;
    this.sendEvent(event);
  }

  private wordsOf(rest: Rest, to: Position): { reason: string; words?: string; text?: string } {
    const l10n = this.host.language;
    switch (rest.reason) {
      case 'start':
        return { reason: 'step', words: l10n.t('Start of the episode: there is nothing further back') };
      case 'end': {
        const open = this.launched?.session.episodes[to.thread].open;
        const words = open
          ? l10n.t('Newest call: the episode is being written, the next call is shown when it is there')
          : l10n.t('End of the episode: there is nothing further');
        return { reason: 'step', words };
      }
      case 'follow':
        return { reason: 'step', words: l10n.t('Newest call') };
      case 'restart':
        return { reason: 'entry', words: l10n.t('Start of the episode') };
      case 'stop': {
        const { kind, text } = rest.hit as BreakpointHit;
        const words = rest.direction === 'back' ? l10n.t('Stopped on the way back') : l10n.t('Stopped');
        return { reason: kind, words: text ? `${words}: ${text}` : words, text: text || undefined };
      }
      default:
        return { reason: rest.reason };
    }
  }

  /** Something was written, or loaded. */
  private async changed(known: number): Promise<void> {
    const { launched } = this;
    if (!launched) return;
    for (const breakpoint of await launched.breakpoints.resolveAgain()) {
      this.sendEvent(new BreakpointEvent('changed', this.clientLine(breakpoint) as Required<Dap.Breakpoint>));
    }
    for (; this.threadsTold < known; this.threadsTold++)
      this.sendEvent(new ThreadEvent('started', this.threadsTold + 1));
    if (this.shown && this.client.supportsInvalidatedEvent) this.sendEvent(new InvalidatedEvent(['all']));
  }
  private threadsTold = 0;

  /** Without a frame, where the cursor stands. */
  private placeOf(frameId: number | undefined): Promise<FactPlace> {
    const { session, frames } = this.open();
    const position = frameId === undefined ? session.cursor.position : frames.positionOf(frameId);
    if (!position) throw new Error('this frame is of a position that was left');
    return placeAt(session.episodes[position.thread], position.call, position.part);
  }

  private dataInfo(path: string | undefined, name: string): Dap.DataBreakpointInfoResponse['body'] {
    const l10n = this.host.language;
    if (path === undefined || path === '')
      return { dataId: null, description: l10n.t('{0} is no value of a record', name) };
    try {
      const expression = parseCondition(path);
      if (levelOf(expression) === 'episode')
        return { dataId: null, description: l10n.t('{0} is the same at every call', path) };
      return { dataId: path, description: path, accessTypes: ['write'], canPersist: true };
    } catch (error) {
      return { dataId: null, description: (error as Error).message };
    }
  }

  private say(text: string): void {
    this.sendEvent(new OutputEvent(shown(text), 'console'));
  }

  private clientLine(breakpoint: Dap.Breakpoint): Dap.Breakpoint {
    return breakpoint.line === undefined ? breakpoint : { ...breakpoint, line: this.lineTo(breakpoint.line) };
  }

  /** A client's number, counted from 1. */
  private lineFrom(number: number, what: 'line' | 'column' = 'line'): number {
    return number + this.offset(what);
  }

  private lineTo(number: number, what: 'line' | 'column' = 'line'): number {
    return number - this.offset(what);
  }

  private offset(what: 'line' | 'column'): number {
    return (what === 'line' ? this.client.linesStartAt1 : this.client.columnsStartAt1) === false ? 1 : 0;
  }
}
