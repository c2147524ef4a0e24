/** The breakpoints of a replay, and whether a position is one. Every kind is met at the same places in both directions. */
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import type { Expression } from '../../../recordings/replay/expression.ts';
import { type FactPlace, levelOf, parseCondition, placeAt, valueAt } from '../../../recordings/replay/facts.ts';
import { type Hit, holds, type Position, type ReplayEpisode } from '../../../recordings/replay/index.ts';
import type { ReplaySession } from '../session.ts';
import { FILTERS, type Filter, foundBy } from './exception-filters.ts';
import { HitCounts, type HitRule, hitRule } from './hit-counts.ts';
import type { Language } from './host.ts';
import type { LineTarget, Sources } from './sources.ts';
import { valueText } from './values.ts';

/** What the client gave, checked; `problem` says why it can never be met. */
interface Breakpoint {
  id: number;
  problem?: string;
  condition?: Expression;
  hits?: HitRule;
}
interface LineBreakpoint extends Breakpoint {
  source: Dap.Source;
  line: number;
  log?: LogPart[];
  target?: LineTarget;
}
interface ValueBreakpoint extends Breakpoint {
  expression?: Expression;
}
type LogPart = string | Expression;

/** What stopped a continue. */
export interface BreakpointHit extends Hit {
  kind: 'breakpoint' | 'function breakpoint' | 'data breakpoint' | 'exception';
  ids: number[];
  /** In words. */
  text: string;
  filter?: Filter;
}

export class Breakpoints {
  private readonly session: ReplaySession;
  private readonly sources: Sources;
  private readonly language: Language;
  private readonly say: (text: string) => void;
  private lines: LineBreakpoint[] = [];
  private functions: ValueBreakpoint[] = [];
  private data: ValueBreakpoint[] = [];
  private filters: { filter: Filter; condition?: Expression }[] = [];
  private readonly counts = new HitCounts();
  private ids = 0;
  /** Conditions that failed, which are told once. */
  private readonly told = new Set<string>();

  /** @param say writes to the debug console. */
  constructor(session: ReplaySession, sources: Sources, language: Language, say: (text: string) => void) {
    this.session = session;
    this.sources = sources;
    this.language = language;
    this.say = say;
  }

  /** Replaces those of a source. */
  async setLines(source: Dap.Source, given: Dap.SourceBreakpoint[]): Promise<Dap.Breakpoint[]> {
    const same = (one: Dap.Source) => one.path === source.path && one.sourceReference === source.sourceReference;
    const l10n = this.language;
    const set: LineBreakpoint[] = given.map(({ line, condition, hitCondition, logMessage }) => {
      const breakpoint: LineBreakpoint = { ...this.checked(condition, hitCondition), source, line };
      if (breakpoint.hits && !breakpoint.hits(1))
        breakpoint.problem = l10n.t(
          'A line is met once in an episode; a function breakpoint counts the places where an expression holds',
        );
      try {
        if (logMessage !== undefined) breakpoint.log = logParts(logMessage);
      } catch (error) {
        breakpoint.problem = (error as Error).message;
      }
      return breakpoint;
    });
    for (const breakpoint of set) await this.resolve(breakpoint);
    this.lines = [...this.lines.filter((one) => !same(one.source)), ...set];
    return set.map(shownLine);
  }

  /** Finds lines anew after transcripts have changed. @returns those that are elsewhere now. */
  async resolveAgain(): Promise<Dap.Breakpoint[]> {
    const changed: Dap.Breakpoint[] = [];
    this.counts.clear();
    for (const breakpoint of this.lines) {
      const before = JSON.stringify(shownLine(breakpoint));
      await this.resolve(breakpoint);
      const now = shownLine(breakpoint);
      if (JSON.stringify(now) !== before) changed.push(now);
    }
    return changed;
  }

  /** A function breakpoint is a condition alone: it is met wherever its expression holds. */
  setFunctions(given: Dap.FunctionBreakpoint[]): Dap.Breakpoint[] {
    this.functions = given.map(({ name, condition, hitCondition }) => this.ofExpression(name, condition, hitCondition));
    return this.functions.map(shownValue);
  }

  /** Met where the value of an expression is another than at the call (or tool call) before. */
  setData(given: Dap.DataBreakpoint[]): Dap.Breakpoint[] {
    this.data = given.map(({ dataId, condition, hitCondition }) => this.ofExpression(dataId, condition, hitCondition));
    return this.data.map(shownValue);
  }

  setFilters({ filters, filterOptions = [] }: Dap.SetExceptionBreakpointsArguments): Dap.Breakpoint[] {
    const options = [...filters.map((filterId) => ({ filterId, condition: undefined })), ...filterOptions];
    this.filters = [];
    return options.map(({ filterId, condition }) => {
      const filter = FILTERS.find((one) => one === filterId);
      if (!filter) return { verified: false, message: `there is no filter "${filterId}"` };
      const { id, problem, condition: expression } = this.checked(condition);
      if (problem !== undefined) return { id, verified: false, message: problem };
      this.filters.push({ filter, ...(expression ? { condition: expression } : {}) });
      return { id, verified: true };
    });
  }

  /** Whether a continue stops at a position, for {@link EpisodeCursor.continue}. */
  readonly stopAt = async (position: Position): Promise<BreakpointHit | undefined> => {
    const episode = this.session.episodes[position.thread];
    const place = await placeAt(episode, position.call, position.part);
    const l10n = this.language;
    const hits: BreakpointHit[] = [];
    for (const breakpoint of this.lines) {
      const { target, problem, condition, id, log } = breakpoint;
      if (problem !== undefined || !target || !isAt(target, position)) continue;
      if (!(await this.holdsAt(condition, place))) continue;
      if (log) this.say(`${await this.logText(log, place)}\n`);
      else hits.push({ kind: 'breakpoint', ids: [id], text: '' });
    }
    for (const breakpoint of this.functions) {
      const { expression, id } = breakpoint;
      if (!expression || !(await this.functionMet(breakpoint, position, place))) continue;
      if (!(await this.counted(breakpoint, position, (at, there) => this.functionMet(breakpoint, at, there)))) continue;
      hits.push({ kind: 'function breakpoint', ids: [id], text: expression.text });
    }
    for (const breakpoint of this.data) {
      const { expression, id } = breakpoint;
      const change = await this.dataMet(breakpoint, position, place);
      if (!expression || !change) continue;
      const isMet = async (at: Position, there: FactPlace) => (await this.dataMet(breakpoint, at, there)) !== undefined;
      if (!(await this.counted(breakpoint, position, isMet))) continue;
      const [from, to] = change.map(valueText);
      hits.push({
        kind: 'data breakpoint',
        ids: [id],
        text: l10n.t('{0} changed from {1} to {2}', expression.text, from, to),
      });
    }
    for (const { filter, condition } of this.filters) {
      const text = foundBy(filter, place);
      if (text === undefined || !(await this.holdsAt(condition, place))) continue;
      hits.push({ kind: 'exception', ids: [], text, filter });
    }
    // What went wrong says more than that somebody wanted to stop here; all are named by their ids.
    const shown = hits.find(({ kind }) => kind === 'exception') ?? hits[0];
    return shown && { ...shown, ids: hits.flatMap(({ ids }) => ids) };
  };

  private async functionMet({ expression, condition }: ValueBreakpoint, position: Position, place: FactPlace) {
    if (!expression || levelOfPart(position) !== levelOf(expression)) return false;
    return (await this.holdsAt(expression, place)) && (await this.holdsAt(condition, place));
  }

  /** The value before and now, where it has changed and the condition holds. */
  private async dataMet({ expression, condition }: ValueBreakpoint, position: Position, place: FactPlace) {
    const change = expression && (await this.change(expression, place.episode, position, place));
    return change && (await this.holdsAt(condition, place)) ? change : undefined;
  }

  /** Whether a place where a breakpoint is met has a number that its hit count asks for. */
  private async counted(
    breakpoint: Breakpoint,
    position: Position,
    isMet: (at: Position, place: FactPlace) => Promise<boolean>,
  ): Promise<boolean> {
    if (!breakpoint.hits) return true;
    const episode = this.session.episodes[position.thread];
    const number = await this.counts.numberOf(breakpoint, episode, position, async (at) =>
      isMet(at, await placeAt(episode, at.call, at.part)),
    );
    return breakpoint.hits(number);
  }

  /** What there is to find out at a position when it is not a continue that came there. */
  async exceptionAt(position: Position): Promise<{ filter: Filter; text: string } | undefined> {
    const place = await placeAt(this.session.episodes[position.thread], position.call, position.part);
    for (const filter of FILTERS) {
      const text = foundBy(filter, place);
      if (text !== undefined) return { filter, text };
    }
    return undefined;
  }

  /** Value before and now, where it changed. Calls that cannot be read are no change. */
  private async change(expression: Expression, episode: ReplayEpisode, position: Position, place: FactPlace) {
    const level = levelOf(expression);
    if (levelOfPart(position) !== level || level === 'episode' || (await this.isDamaged(place))) return undefined;
    for await (const before of earlier(episode, position, level)) {
      if (await this.isDamaged(before)) continue;
      const [old, now] = [await this.valueOf(expression, before), await this.valueOf(expression, place)];
      return JSON.stringify(old) === JSON.stringify(now) ? undefined : [old, now];
    }
    return undefined;
  }

  private async isDamaged({ call }: FactPlace): Promise<boolean> {
    return call !== null && 'damaged' in call.call;
  }

  private async holdsAt(condition: Expression | undefined, place: FactPlace): Promise<boolean> {
    return condition === undefined || holds(await this.valueOf(condition, place));
  }

  /** Null where it cannot be evaluated, which is said once. */
  private async valueOf(expression: Expression, place: FactPlace): Promise<unknown> {
    try {
      return (await valueAt(expression, place)) ?? null;
    } catch (error) {
      const text = `${expression.text}: ${(error as Error).message}`;
      if (!this.told.has(text)) this.say(`${text}\n`);
      this.told.add(text);
      return null;
    }
  }

  private async logText(parts: LogPart[], place: FactPlace): Promise<string> {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : valueText(await this.valueOf(part, place));
    return text;
  }

  private ofExpression(text: string, condition: string | undefined, hits: string | undefined): ValueBreakpoint {
    const breakpoint: ValueBreakpoint = this.checked(condition, hits);
    try {
      breakpoint.expression = parseCondition(text);
    } catch (error) {
      breakpoint.problem = (error as Error).message;
    }
    if (breakpoint.problem !== undefined) delete breakpoint.expression;
    return breakpoint;
  }

  private checked(condition: string | undefined, hitCondition?: string): Breakpoint {
    const l10n = this.language;
    const id = ++this.ids;
    const hits = hitCondition === undefined || hitCondition.trim() === '' ? undefined : hitRule(hitCondition);
    if (hits === undefined && hitCondition?.trim())
      return { id, problem: l10n.t('A hit count is a number, alone or after ==, >, >=, <, <= or %') };
    const counted: Breakpoint = hits ? { id, hits } : { id };
    if (condition === undefined || condition.trim() === '') return counted;
    try {
      return { ...counted, condition: parseCondition(condition) };
    } catch (error) {
      return { id, problem: (error as Error).message };
    }
  }

  private async resolve(breakpoint: LineBreakpoint): Promise<void> {
    const found = await this.sources.targetOf(breakpoint.source, breakpoint.line);
    delete breakpoint.target;
    if (typeof found !== 'string') breakpoint.target = found;
    else if (breakpoint.problem === undefined || breakpoint.problem === this.unresolved.get(breakpoint)) {
      this.unresolved.set(breakpoint, found);
      breakpoint.problem = found;
    }
    if (breakpoint.target && breakpoint.problem === this.unresolved.get(breakpoint)) delete breakpoint.problem;
  }

  /** Problems that may go away when more is loaded. */
  private readonly unresolved = new WeakMap<LineBreakpoint, string>();
}

function shownLine({ id, problem, target, line }: LineBreakpoint): Dap.Breakpoint {
  if (problem !== undefined) return { id, verified: false, message: problem, line };
  return { id, verified: true, line: target?.line ?? line };
}

function shownValue({ id, problem }: ValueBreakpoint): Dap.Breakpoint {
  return problem === undefined ? { id, verified: true } : { id, verified: false, message: problem };
}

function isAt(target: LineTarget, { thread, call, part }: Position): boolean {
  if (target.thread !== undefined && target.thread !== thread) return false;
  return target.part === part && (target.call === undefined || target.call === call);
}

function levelOfPart({ part }: Position): 'call' | 'part' | 'episode' {
  if (part === 'outcome') return 'episode';
  return part === 'call' ? 'call' : 'part';
}

/** Places of the same kind before a position, the nearest first. */
async function* earlier(episode: ReplayEpisode, { call, part }: Position, level: 'call' | 'part') {
  if (level === 'call') {
    for (let at = call - 1; at >= 0; at--) yield placeAt(episode, at, 'call');
    return;
  }
  for (let at = call, index = Number(part) - 1; at >= 0; at--, index = -1) {
    const last = at === call ? index : (await episode.call(at)).toolCalls.length - 1;
    for (let one = last; one >= 0; one--) yield placeAt(episode, at, one);
  }
}

/** `reward {reward} at turn {turn}`: texts and expressions in turn. @throws ExpressionError */
function logParts(message: string): LogPart[] {
  return message
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{.*\}$/s.test(part) ? parseCondition(part.slice(1, -1)) : part));
}
