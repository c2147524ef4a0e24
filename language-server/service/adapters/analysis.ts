/** Everything the rules look at, and how they report. */
import type ts from 'typescript6';
import type { AdapterOptions, Finding, Fix, Range } from '../contract.ts';
import { OutOfBudget } from './budget.ts';
import { type Case, casesOfFunction } from './cases.ts';
import { ADAPTER_CODES, type AdapterCode } from './codes.ts';
import { contextValue, episodeValue, outputValue } from './contract-values.ts';
import { Evaluator } from './evaluate.ts';
import { type Located, locateAdapters } from './locate.ts';
import { bindScopes, type Scopes } from './scopes.ts';
import { isSound } from './soundness.ts';
import { parseAdapter, type Syntax } from './syntax.ts';
import type { Frame, Value } from './values.ts';

const BUDGET = 2000;

/** One of the adapter's functions, with its parameters bound to the contract's objects. */
export interface Part {
  fn: NonNullable<Value['fn']>;
  frame: Frame;
  /** What it returns. */
  cases: Case[];
  /** No parse error lies in it, so that what it lacks is lacking. */
  whole: boolean;
}

export interface Analysis {
  syntax: Syntax;
  evaluator: Evaluator;
  adapter: Located | undefined;
  launch: Part | undefined;
  outcome: Part | undefined;
  /** No half-typed place spoils what the tree says of the adapter. */
  sound: boolean;
  report(code: AdapterCode, at: ts.Node | Range, message: string, fix?: Fix): void;
}

export type Rule = (analysis: Analysis) => void;

/** Parses a text and runs rules over it. Never throws: a text that cannot be analysed, or not in time, is a finding. */
export function analyse(text: string, options: AdapterOptions, rules: readonly Rule[]): Finding[] {
  const started = performance.now();
  const syntax = parseAdapter(text, options);
  if ('refused' in syntax) return [syntax.refused];
  const findings: Finding[] = [];
  const seen = new Set<string>();
  const report: Analysis['report'] = (code, at, message, fix) => {
    const range = 'kind' in at ? syntax.range(at) : at;
    const key = `${code} ${range.start.line}:${range.start.character}`;
    if (seen.has(key)) return;
    seen.add(key);
    findings.push({ code, severity: ADAPTER_CODES[code], message, range, ...(fix ? { fix } : {}) });
  };
  const stopped = attempt(() => {
    for (const analysis of beginAll(syntax, options, report, started)) {
      for (const rule of rules) rule(analysis);
      if (!analysis.sound) keep(findings, 'adapter-syntax');
    }
  });
  if (stopped) {
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
    report('adapter-not-checked', range, `${stopped}; other findings may be lacking`);
  }
  return findings;
}

/** Drops the findings of all other codes. */
function keep(findings: Finding[], code: AdapterCode): void {
  findings.splice(0, findings.length, ...findings.filter((finding) => finding.code === code));
}

/** The parsed and bound file with its adapter, the first where there are several. @throws OutOfBudget, RangeError */
export function begin(syntax: Syntax, options: AdapterOptions): Analysis {
  return beginAll(syntax, options)[0];
}

/** The parsed and bound file with each adapter that it may export; at least one analysis. */
function beginAll(
  syntax: Syntax,
  options: AdapterOptions,
  report: Analysis['report'] = () => {},
  started = performance.now(),
): Analysis[] {
  const scopes = bindScopes(syntax.source);
  const evaluator = new Evaluator(syntax, scopes, started + (options.budget ?? BUDGET));
  const located = locateAdapters(evaluator);
  return (located.length > 0 ? located : [undefined]).map((adapter) =>
    withParts(syntax, scopes, evaluator, adapter, report),
  );
}

function withParts(
  syntax: Syntax,
  scopes: Scopes,
  evaluator: Evaluator,
  adapter: Located | undefined,
  report: Analysis['report'],
): Analysis {
  const part = (name: string, args: (node: ts.Node) => Value[]): Part | undefined => {
    const fn = adapter?.object.properties.get(name)?.value().fn;
    if (!fn) return undefined;
    const frame = evaluator.frame(fn, args(fn.node));
    if (!frame) return undefined;
    return { fn, frame, cases: casesOfFunction(evaluator, fn, frame), whole: !syntax.broken(fn.node) };
  };
  const launch = part('launch', (node) => [episodeValue(node), contextValue(node)]);
  const outcome = part('outcome', (node) => [outputValue(node)]);
  const sound = isSound(syntax, scopes, adapter, [launch?.fn, outcome?.fn]);
  return { syntax, evaluator, adapter, launch, outcome, sound, report };
}

/** Runs an analysis; says why it could not be finished, if so. Other errors are faults of ours and told as such. */
export function attempt(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof OutOfBudget) return 'checking this file took too long';
    if (error instanceof RangeError) return 'the code is nested too deeply to be checked';
    return `checking this file failed (${(error as Error).message})`;
  }
}
