/** What is known of the value of an expression without running it: its kind, where it comes from, what it holds. */
import type ts from 'typescript6';

/** Kinds of values, as bits; `ANY` where nothing is known. */
export const KIND = {
  string: 1,
  number: 2,
  boolean: 4,
  undefined: 8,
  null: 16,
  object: 32,
  array: 64,
  function: 128,
  promise: 256,
  any: 512,
} as const;

/** Where a value comes from, as bits. */
export const FROM = {
  /** `episode.attempt`. */
  attempt: 1,
  /** `episode.seed`, which differs between attempts. */
  seed: 2,
  /** The episode's key, or an object that holds it. */
  key: 4,
  /** What the harness wrote: files, output, the worker's answer. */
  record: 8,
  /** What the planner says of itself: its responses, `finish`. */
  planner: 16,
  /** That the planner's code or tool call failed. */
  plannerError: 32,
  /** `output.timedOut`. */
  timeout: 64,
  /** A name from `output.list()`, so the file exists. */
  listed: 128,
  /** A path made safe by basename or the like. */
  checkedPath: 256,
  /** A path in the episode's output folder or in a temporary one. */
  ownFolder: 512,
  /** `episode.init`. */
  init: 1024,
  /** Which task it is. */
  task: 2048,
  /** Chance or the clock. */
  chance: 4096,
  /** What the planner did, not what it says of it: its tool calls. */
  acts: 8192,
  /** A number reckoned from the initial state and the attempt. */
  mixed: 16384,
  /** That the planner's code ran without an error. */
  plannerRan: 32768,
} as const;

export interface ObjectShape {
  node: ts.Node;
  properties: Map<string, Property>;
  /** It may hold more than is written here. */
  open: boolean;
}

export interface Property {
  /** The property as written, for places. */
  node: ts.Node;
  name: ts.Node;
  value(): Value;
  /** The expression of the value and the frame to look at it in, where there is one. */
  expression?: ts.Expression;
  frame?: Frame;
  /** What was set or pushed to it later, in order. */
  later?: readonly { values: readonly ts.Expression[]; pushed: boolean; frame: Frame }[];
}

/** Where a property's value is written; its name where that is elsewhere. */
export function placeOf(property: Property): ts.Node {
  return property.expression && property.expression !== property.name ? property.expression : property.name;
}

/** The function call in which names have their values. */
export interface Frame {
  /** Function (or file) whose names it binds. */
  scope: ts.Node;
  parent?: Frame;
  bindings: Map<ts.Node, Value>;
  memo: Map<ts.Node, Value>;
}

export interface Value {
  kinds: number;
  from: number;
  literal?: string | number | boolean;
  /** All constants it may be, where they are known. */
  literals?: readonly (string | number | boolean)[];
  /** A number that is surely not below this. */
  least?: number;
  /** A number that is surely not 0. */
  nonZero?: boolean;
  /** An array, set or map that surely holds this many elements. */
  count?: number;
  object?: ObjectShape;
  /** Elements known one by one. */
  elements?: readonly Value[];
  /** Any element of an array or record. */
  element?: Value;
  fn?: { node: ts.FunctionLikeDeclaration; frame: Frame };
  /** A member of the contract's objects that can be called. */
  call?(args: readonly Value[], node: ts.CallExpression): Value;
  /** Name of something outside the file: `fs.readFileSync`, `global.Math.random`. */
  external?: string;
  /** What a promise will be. */
  awaited?: Value;
  /** The call that gives undefined where a file does not exist. */
  missing?: ts.Node;
  /** Why a number may be NaN or the value undefined. */
  doubt?: Doubt;
  /** Type as written in the file, for the parts of an unknown value. */
  written?: ts.TypeNode;
  /** Names that lead to it from its record, such as `sandbox.exit_code`. */
  name?: string;
  /** Name of the file this record was read from. */
  file?: string;
  /** A regular expression's text. */
  pattern?: string;
  /** Groups of a regular expression's match, the whole first. */
  groups?: readonly Value[];
  /** Values of a map that was made of entries, and its keys where all are constant. */
  mapped?: { value: Value; keys?: readonly unknown[] };
  /** The expression it is, where that is an object or array of the file. */
  node?: ts.Node;
}

export interface Doubt {
  what: 'NaN' | 'undefined' | 'infinite' | 'no number';
  node: ts.Node;
  why: string;
  /** What the doubtful value becomes as a number, where that is sure. */
  becomes?: number;
}

export const UNKNOWN: Value = { kinds: KIND.any, from: 0 };

export function of(kinds: number, from = 0, more: Partial<Value> = {}): Value {
  return { kinds, from, ...more };
}

/** Either of two values. */
export function either(a: Value, b: Value): Value {
  if (a === b) return a;
  const joined: Value = { kinds: a.kinds | b.kinds, from: a.from | b.from };
  if (a.literal !== undefined && a.literal === b.literal) joined.literal = a.literal;
  else joined.literals = literalsOf(a, b);
  const [one, other] = [leastOf(a), leastOf(b)];
  if (one !== undefined && other !== undefined) joined.least = Math.min(one, other);
  if (isNonZero(a) && isNonZero(b)) joined.nonZero = true;
  if (a.count !== undefined && b.count !== undefined) joined.count = Math.min(a.count, b.count);
  joined.missing = a.missing ?? b.missing;
  joined.doubt = a.doubt ?? b.doubt;
  joined.written = a.written ?? b.written;
  joined.file = a.file ?? b.file;
  if (joined.kinds & KIND.string && isNumbersText(a) && isNumbersText(b)) joined.pattern = 'number';
  if (a.element || b.element)
    joined.element = a.element && b.element ? either(a.element, b.element) : (a.element ?? b.element);
  if (a.object && b.object) joined.object = merged(a.object, b.object);
  const only = { undefined: KIND.undefined, null: KIND.null };
  // `cond ? { ... } : undefined` is still that object where it is one.
  if (b.kinds === only.undefined || b.kinds === only.null) Object.assign(joined, pick(a));
  else if (a.kinds === only.undefined || a.kinds === only.null) Object.assign(joined, pick(b));
  return joined;
}

/** A number, or the text of one. */
function isNumbersText({ kinds, pattern, doubt }: Value): boolean {
  return pattern === 'number' || (kinds === KIND.number && doubt === undefined);
}

/** Either of two objects: what one of them lacks may be undefined. */
function merged(a: ObjectShape, b: ObjectShape): ObjectShape {
  const properties = new Map<string, Property>();
  for (const name of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const [one, other] = [a.properties.get(name), b.properties.get(name)];
    const written = (one ?? other) as Property;
    const absent = of(KIND.undefined);
    properties.set(name, {
      node: written.node,
      name: written.name,
      value: () => either(one?.value() ?? absent, other?.value() ?? absent),
    });
  }
  return { node: a.node, properties, open: a.open || b.open };
}

function pick({ object, elements, fn, call, external, awaited, groups }: Value): Partial<Value> {
  return { object, elements, fn, call, external, awaited, groups };
}

const MOST_LITERALS = 30;

/** Constants that values may be; undefined where one of them may be anything. */
export function literalsOf(...values: readonly Value[]): Value['literals'] {
  const all = new Set<string | number | boolean>();
  for (const { literal, literals, kinds } of values) {
    const own = literal !== undefined ? [literal] : (literals ?? (kinds === KIND.boolean ? [true, false] : undefined));
    if (!own) return undefined;
    for (const each of own) all.add(each);
  }
  return all.size <= MOST_LITERALS ? [...all] : undefined;
}

export function withFrom(value: Value, from: number): Value {
  return (value.from | from) === value.from ? value : { ...value, from: value.from | from };
}

/** A number's known lower bound. */
export function leastOf({ literal, least }: Value): number | undefined {
  return typeof literal === 'number' ? literal : least;
}

/** Whether a number can safely be divided by. */
export function isNonZero(value: Value): boolean {
  return (
    value.nonZero === true || (leastOf(value) ?? 0) > 0 || (typeof value.literal === 'number' && value.literal !== 0)
  );
}

/** A list whose elements are not known one by one any more: something was put in, taken out or moved. */
export function shuffled(value: Value, count: number | undefined, more: readonly Value[] = []): Value {
  const all = [...(value.elements ?? []), ...(value.element ? [value.element] : []), ...more];
  return {
    ...value,
    elements: undefined,
    groups: undefined,
    mapped: undefined,
    element: all.length > 0 ? all.reduce(either) : undefined,
    count,
  };
}

/** Whether it is known to be of none of the kinds. */
export function isSurelyNot(value: Value, kinds: number): boolean {
  return value.kinds !== 0 && (value.kinds & (kinds | KIND.any)) === 0;
}

/** Whether it is known to be of these kinds only. */
export function isSurely(value: Value, kinds: number): boolean {
  return value.kinds !== 0 && (value.kinds & ~kinds) === 0;
}
