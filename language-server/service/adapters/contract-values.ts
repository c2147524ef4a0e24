/** The objects an adapter's functions are given (protocol/adapter.ts), as values of which the sources are known. */
import type ts from 'typescript6';
import { FROM, KIND, of, type Property, type Value } from './values.ts';

const text = (from = 0) => of(KIND.string, from);
const number = (from = 0) => of(KIND.number, from);

function record(node: ts.Node, properties: Record<string, Value>, from = 0): Value {
  const map = new Map<string, Property>();
  for (const [name, value] of Object.entries(properties)) map.set(name, { node, name: node, value: () => value });
  return of(KIND.object, from, { object: { node, properties: map, open: false } });
}

/** `episode` of `launch`. */
export function episodeValue(node: ts.Node): Value {
  const limits = record(node, {
    turns: number(),
    seconds: number(),
    responseTokens: number(),
    idleSeconds: number(),
  });
  return record(
    node,
    {
      task: text(FROM.task),
      suite: text(FROM.task),
      taskIndex: number(FROM.task),
      init: number(FROM.init),
      attempt: number(FROM.attempt),
      role: text(),
      seed: number(FROM.seed),
      limits,
      baseUrl: text(),
      apiKey: text(FROM.key),
      model: text(),
      outputDir: text(FROM.ownFolder),
    },
    FROM.key,
  );
}

export function contextValue(node: ts.Node): Value {
  return record(node, { node: text(), adapterDir: text(), workspace: text() });
}

/** Name of the list of recorded calls. */
export const CALLS = 'output.calls';

/** `output` of `outcome`. */
export function outputValue(node: ts.Node): Value {
  const episode = record(node, {
    task: text(),
    suite: text(),
    taskIndex: number(),
    init: number(),
    attempt: number(FROM.attempt),
    role: text(),
    seed: number(FROM.seed),
  });
  const toolCall = record(
    node,
    { name: text(FROM.planner), arguments: text(FROM.planner | FROM.record) },
    FROM.planner,
  );
  const call = record(node, {
    turn: number(),
    status: text(),
    finishReason: of(KIND.string | KIND.null, FROM.planner),
    content: of(KIND.string | KIND.null, FROM.planner),
    toolCalls: of(KIND.array, FROM.acts, { element: toolCall }),
  });
  return record(node, {
    episode,
    exitCode: of(KIND.number | KIND.null),
    signal: of(KIND.string | KIND.null),
    timedOut: of(KIND.boolean, FROM.timeout),
    stdoutTail: text(FROM.record),
    stderrTail: text(FROM.record),
    answer: of(KIND.any, FROM.record, { name: 'answer' }),
    readText: of(KIND.function, 0, { call: (args, at) => readFile(args, at, KIND.string) }),
    readJson: of(KIND.function, 0, { call: (args, at) => readFile(args, at, KIND.any) }),
    list: of(KIND.function, 0, { call: () => of(KIND.array, FROM.listed, { element: text(FROM.listed) }) }),
    calls: of(KIND.array, 0, { element: call, name: CALLS }),
  });
}

/** Files in which the known harnesses keep what the planner said: transcripts, raw responses. */
const PLANNERS_FILE = /transcript|raw_?response|all_responses|messages\.json|conversation|chat_?log/i;

/** A file's own name tells what it holds; its folder only where the name is not known. */
function isPlanners(file: string): boolean {
  const [, name] = /([^/\\]*)$/.exec(file) ?? [];
  const known = (name ?? '').replace(/\.\w+$/, '').replace(/[*\s]/g, '') !== '';
  return PLANNERS_FILE.test(known && name !== undefined ? name : file);
}

function readFile(args: readonly Value[], node: ts.CallExpression, kind: number): Value {
  const [path] = args;
  const file = typeof path?.literal === 'string' ? path.literal : path?.file;
  const from = FROM.record | (file !== undefined && isPlanners(file) ? FROM.planner : 0);
  if (path && path.from & FROM.listed && path.doubt?.what !== 'undefined') return of(kind, from, { file });
  return of(kind | KIND.undefined, from, { missing: node, file });
}

/** Properties of records that are what the planner says of itself. */
const PLANNERS_WORD =
  /^(finish|finish_?(status|args|call|summary|tool)|planner_?(status|success|said|claims?|report)|model_?(status|success|report)|claimed(_?success)?|claims?_?success|self_?(report|assessment|reported_success)|final_?(answer|message)|agent_?(status|success|report))$/i;
/** Properties of records that say that the planner's code or tool call failed. */
const PLANNERS_ERROR =
  /^(sandbox_?(rc|exit_?code|errors?|exception|failed|returncode|status)|(generated_?)?code_?(errors?|exception|failed)|(code_?)?exec(ution)?_?(errors?|exception)|(planner|agent|policy)_?(errors?|exception)|syntax_?errors?|tool_?(calls?_?)?(errors?|exception)|invalid_?tool_?calls?|parse_?errors?|console_?stderr)$/i;
/** Properties of records that say that the planner's code ran well, which is no success. */
const PLANNERS_RUN =
  /^(sandbox_?(ok|success|succeeded|passed)|trial_?summary_?success|(generated_?)?code_?(executed|ran|ok|success|succeeded)(_?(ok|successfully|without_?(an_?)?errors?))?|exec(ution|uted)?_?(ok|success(fully)?|succeeded|without_?(an_?)?errors?))$/i;
/** Properties of records that say that the planner stopped trying. */
const GAVE_UP = /^(gave|gives?|has_given)_?up$|^surrendered$/i;
/** Parts of a record in which the simulator or the harness speaks, whatever else the record holds. */
const SIMULATORS =
  /^((env|environment|sim|simulator|simulation|world|physics)(_?(state|info|result|check))?|((env|sim|check)_?)success|goal_?(reached|state))$/i;

/** The value of a part of a record: it comes from where the record comes from, and its name may tell more. */
export function partOfRecord(base: Value, name: string): number {
  let from = base.from & ~(FROM.listed | FROM.checkedPath);
  if ((from & FROM.record) === 0) return from;
  const around = base.name?.split('.') ?? [];
  if (SIMULATORS.test(name)) return from & ~(FROM.planner | FROM.plannerError | FROM.plannerRan);
  if (around.some((each) => SIMULATORS.test(each))) return from;
  // `agent.status` and `sandbox.exit_code` say what `agent_status` and `sandbox_exit_code` say.
  const full = [...around.slice(-1), name].join('_');
  if (PLANNERS_WORD.test(name) || PLANNERS_WORD.test(full) || GAVE_UP.test(name)) from |= FROM.planner;
  if (PLANNERS_RUN.test(name) || PLANNERS_RUN.test(full)) from |= FROM.plannerRan;
  // Of the record itself, an exception is one of the code that was run: a harness that failed leaves no record.
  const own = base.name === undefined && name === 'exception';
  if (own || PLANNERS_ERROR.test(name) || PLANNERS_ERROR.test(full)) from |= FROM.plannerError;
  return from;
}

/** Words searched for in a record's text that show what it is evidence of. */
export function sourceOfWord(word: string): number {
  // A pattern of a whole name only finds it; what it is evidence of is in its constant parts.
  if (/task_?completed/i.test(word)) return 0;
  if (/sandbox_?rc\W?\D?\d|sandbox failed|SyntaxError|NameError|IndentationError|code execution failed/i.test(word))
    return FROM.plannerError;
  if (/\bfinish\b|task (is )?(complete|done)|\bDONE\b|FINISH|i have (finished|completed)/.test(word))
    return FROM.planner;
  return 0;
}

/** What a pattern's text before a group shows of what the group holds. */
export function sourceOfLabel(label: string): number {
  return /sandbox_?(rc|exit_?code)[\W_]*$/i.test(label) ? FROM.plannerError : 0;
}

/** CaP-X's summary of a trial, by the name of a type, a variable or a file. */
const TRIAL_SUMMARY = /trial_?summary/i;

/** `success` of a TrialSummary says that the sandbox ended well, not that the task was done. */
export function sourceInSummary(base: Value, called: string, name: string): number {
  if (name !== 'success' || base.name?.includes('.')) return 0;
  const file = base.name === undefined ? (base.file ?? '') : '';
  const known = [base.written?.getText() ?? '', called, file].some((each) => TRIAL_SUMMARY.test(each));
  return known && (base.from & FROM.record) !== 0 ? FROM.plannerRan : 0;
}

const ERRORS_FILE = /(sandbox|code|exec(ution)?)_?(std)?err(or)?s?\b/i;
const ERROR_WORD = /Traceback|Error|Exception/;

/** What a word searched for in a file shows: errors of the planner's code in the file that holds those. */
export function sourceInFile(file: string | undefined, word: string): number {
  return file !== undefined && ERRORS_FILE.test(file) && ERROR_WORD.test(word) ? FROM.plannerError : 0;
}

const WHY_ENDED = /(stop|end|finish|terminat(ion|ed)|exit|abort)_?(reason|status|cause|condition)|(^|\.)reason$/i;
const LIMIT =
  /^(max_?(turns|steps|iterations|calls|tokens|rounds)(_?(reached|exceeded))?|(turn|step|token|iteration|call)s?_?(limit|budget)(_?(reached|exceeded))?|(reached|exceeded)_?max_?\w+|out_?of_?(turns|steps|tokens)|length)$/i;
const GIVEN_UP = /^(gave|given|gives)_?up$/i;

/** What it shows that a record's reason for its end is a certain word. */
export function sourceOfEnd(reason: Value, word: unknown): number {
  if (typeof word !== 'string' || !WHY_ENDED.test(reason.name ?? '')) return 0;
  if (LIMIT.test(word)) return FROM.timeout;
  return GIVEN_UP.test(word) ? FROM.planner : 0;
}
