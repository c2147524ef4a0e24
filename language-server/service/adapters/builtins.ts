/** What the language's own functions and Node's modules give, as far as the rules need to know it. */
import ts from 'typescript6';
import { isChance, isClock } from './chance.ts';
import { isGuarded } from './conditions.ts';
import { CALLS } from './contract-values.ts';
import type { Evaluator } from './evaluate.ts';
import { evidence, matched } from './matches.ts';
import { toNumber } from './operators.ts';
import { asFileName, isNumber, unslashed } from './patterns.ts';
import { rootDoubt } from './roots.ts';
import { strip } from './scopes.ts';
import {
  either,
  FROM,
  type Frame,
  isNonZero,
  KIND,
  leastOf,
  literalsOf,
  of,
  shuffled,
  UNKNOWN,
  type Value,
  withFrom,
} from './values.ts';
import { countedName, shortened } from './wording.ts';

/** Roundings, to which a number's lower bound may be given as well. */
const ROUNDS: Record<string, ((least: number) => number) | undefined> = {
  'Math.ceil': Math.ceil,
  'Math.round': Math.round,
  'Math.floor': Math.floor,
  'Math.trunc': Math.trunc,
};

const PREDICATES = new Set(['includes', 'startsWith', 'endsWith', 'has', 'test']);
const TEXT_METHODS =
  /^(trim|trimEnd|trimStart|toLowerCase|toUpperCase|slice|substring|padStart|padEnd|replace|replaceAll|repeat|toFixed|toString|charAt|concat|normalize)$/;

/** `length` and the like; `UNKNOWN` for what is not of the language. */
export function memberOf(base: Value, name: string): Value {
  // How many there are is no word of the planner's, unless they were chosen by it.
  if (name === 'length' || name === 'size') {
    if (base.kinds & KIND.any && (base.from & FROM.record) === 0) return UNKNOWN;
    return of(KIND.number, (base.kinds & KIND.array ? base.from : base.from & ~FROM.planner) & ~FROM.key, {
      literal: base.kinds === KIND.array && base.elements ? base.elements.length : undefined,
      least: base.count ?? 0,
      name: base.name === CALLS ? `${CALLS}.length` : undefined,
    });
  }
  return UNKNOWN;
}

/** The result of `base.name(...)` for methods of arrays, texts, promises and regular expressions. */
export function callMember(
  evaluator: Evaluator,
  base: Value,
  name: string,
  node: ts.CallExpression,
  frame: Frame,
): Value | undefined {
  if (base.external !== undefined || base.object?.properties.has(name)) return undefined;
  const args = () => evaluator.args(node, frame);
  const first = () => args()[0] ?? UNKNOWN;
  if (base.kinds & KIND.promise) {
    if (!['then', 'catch', 'finally'].includes(name)) return undefined;
    args();
    return of(KIND.promise, base.from);
  }
  if (base.pattern !== undefined) {
    const subject = first();
    if (subject.from & FROM.listed) evaluator.hints.push(asFileName(base.pattern));
    if (name === 'test') return of(KIND.boolean, evidence(subject, base.pattern) & ~FROM.key);
    if (name === 'exec') return matched(subject, base.pattern, node);
    return undefined;
  }
  if (base.mapped && name === 'get') {
    const { value, keys } = base.mapped;
    const asked = literalsOf(first());
    const [key] = node.arguments;
    const safe =
      (keys && asked?.every((each) => keys.includes(each))) ||
      (key !== undefined && isGuarded(node, countedName(strip(key)), false));
    if (safe) return value;
    const doubt = { what: 'undefined' as const, node, why: 'the map may not hold this key' };
    return { ...value, kinds: value.kinds | KIND.undefined, literal: undefined, literals: undefined, doubt };
  }
  if (PREDICATES.has(name)) {
    const word = first();
    const text = typeof word.literal === 'string' ? word.literal : (word.file ?? '');
    if (base.from & FROM.listed && text !== '') evaluator.hints.push(text);
    return of(KIND.boolean, (evidence(base, text) | word.from) & ~FROM.key);
  }
  if (name === 'match' || name === 'matchAll') {
    const pattern = first().pattern ?? '';
    if (base.from & FROM.listed) evaluator.hints.push(asFileName(pattern));
    if (name === 'matchAll') {
      const match = matched(base, pattern, node);
      return of(KIND.array, match.from, { element: { ...match, kinds: KIND.array } });
    }
    // With the flag g there are no groups, but all that was found.
    if (unslashed(pattern).flags.includes('g')) {
      const from = evidence(base, pattern);
      const found = isNumber(unslashed(pattern).body) ? 'number' : undefined;
      return of(KIND.array | KIND.null, from, { element: of(KIND.string, from, { pattern: found }) });
    }
    return matched(base, pattern, node);
  }
  if (name === 'split') return of(KIND.array, base.from, { element: of(KIND.string, base.from), file: base.file });
  if (name === 'join') {
    const all = base.elements ?? (base.element ? [base.element] : []);
    const from = all.reduce((sum, each) => sum | each.from, base.from | first().from);
    const known = base.elements?.every((each) => each.literal !== undefined);
    const separator = String(first().literal ?? ',');
    const literal = known ? base.elements?.map((each) => each.literal).join(separator) : undefined;
    const file = base.elements?.map((each) => each.literal ?? each.file ?? '*').join(separator);
    return of(KIND.string, from, { literal, file });
  }
  if (base.kinds === KIND.string || (base.kinds & KIND.string && TEXT_METHODS.test(name))) {
    const from = args().reduce((all, each) => all | each.from, base.from);
    // The first letters of a key are no key; what is put into a text is.
    const shortens = /^(slice|substring)$/.test(name);
    if (/^replace(All)?$/.test(name)) {
      const put = args().slice(1);
      const kept = (from & ~FROM.key) | put.reduce((all, each) => all | (each.from & FROM.key), 0);
      return of(KIND.string, kept, { file: base.file });
    }
    if (TEXT_METHODS.test(name)) return of(KIND.string, shortens ? from & ~FROM.key : from, { file: base.file });
    if (/^(indexOf|lastIndexOf|search|charCodeAt|localeCompare)$/.test(name)) return of(KIND.number, from & ~FROM.key);
    if (name === 'at') return of(KIND.string | KIND.undefined, from);
    return of(KIND.any, from);
  }
  if (name === 'toString' && base.kinds & (KIND.object | KIND.any)) return of(KIND.string, base.from);
  if (base.kinds & (KIND.number | KIND.any) && /^(toFixed|toString|toPrecision|toExponential)$/.test(name)) {
    const isNumber = base.kinds === KIND.number && !base.doubt;
    return of(KIND.string, base.from, isNumber ? { pattern: 'number' } : {});
  }
  if (base.kinds & (KIND.array | KIND.any | KIND.object)) return callList(evaluator, base, name, node, frame);
  return undefined;
}

function callList(
  evaluator: Evaluator,
  base: Value,
  name: string,
  node: ts.CallExpression,
  frame: Frame,
): Value | undefined {
  const [callback] = node.arguments;
  const args = () => evaluator.args(node, frame);
  const hints = evaluator.hints;
  evaluator.hints = [];
  /** What a callback gives for an element. */
  const applied = (...args: Value[]): Value => {
    if (!callback) return UNKNOWN;
    const fn = evaluator.value(callback, frame);
    if (fn.fn) return evaluator.invoke(fn.fn, args, callback);
    return fn.external === 'global.Number' ? toNumber(args[0], callback) : of(KIND.any, args[0]?.from ?? 0);
  };
  const element = () => evaluator.elementOf(base);
  const isList = (base.kinds & KIND.array) !== 0;
  const doubtful = (value: Value, why: string): Value => ({
    ...value,
    kinds: value.kinds | KIND.undefined,
    doubt: { what: 'undefined', node, why },
  });
  try {
    switch (name) {
      case 'some':
      case 'every':
        return of(KIND.boolean, base.from | applied(element()).from);
      case 'find':
      case 'findLast': {
        const from = applied(element()).from;
        const found = withFrom(element(), from | base.from);
        const file = evaluator.hints.join(' ') || base.file;
        return { ...doubtful(found, 'nothing may be found'), file };
      }
      case 'findIndex':
      case 'findLastIndex':
        return of(KIND.number, base.from | applied(element()).from);
      case 'filter': {
        const from = base.from | applied(element()).from;
        return of(KIND.array, from, { element: element(), file: evaluator.hints.join(' ') || base.file });
      }
      case 'map':
      case 'flatMap': {
        const mapped = applied(element(), of(KIND.number));
        const item = name === 'flatMap' ? evaluator.elementOf(mapped) : mapped;
        return of(isList ? KIND.array : KIND.any, base.from, {
          element: withFrom(item, base.from),
          file: base.file,
          count: name === 'map' ? base.count : undefined,
        });
      }
      case 'reduce': {
        const start = node.arguments[1] && evaluator.value(node.arguments[1], frame);
        const folded = applied(start ?? element(), element(), of(KIND.number));
        if (!start) return folded;
        return withFrom({ ...either(start, folded), literal: undefined, literals: undefined }, base.from);
      }
      case 'forEach':
        applied(element(), of(KIND.number));
        return of(KIND.undefined);
    }
    const takesOne = name === 'at' || name === 'pop' || name === 'shift';
    // Of a record's list, too: only a list has these methods, or a text, which is as empty.
    if (takesOne && (isList || base.from & FROM.record)) {
      const taken = withFrom(element(), base.from);
      const list = strip((strip(node.expression) as ts.PropertyAccessExpression).expression);
      const sure = (base.count ?? 0) > 0 || isGuarded(node, countedName(list), false);
      return sure ? taken : doubtful(taken, 'the list may be empty');
    }
    if (!isList) return undefined;
    switch (name) {
      case 'slice':
      case 'reverse':
      case 'sort':
      case 'toSorted':
      case 'toReversed':
      case 'values':
        return shuffled(base, name === 'slice' && node.arguments.length > 0 ? undefined : base.count);
      case 'concat': {
        const others = args();
        const from = others.reduce((all, each) => all | each.from, base.from);
        const elements = others.map((each) => (each.kinds & KIND.array ? evaluator.elementOf(each) : each));
        const count = others.reduce(
          (sum, each) => sum + (each.kinds & KIND.array ? (each.count ?? 0) : 0),
          base.count ?? 0,
        );
        return { ...shuffled(of(KIND.array, from, { ...base, from }), count, elements), node: undefined };
      }
      case 'flat':
        return of(KIND.array, base.from, { element: evaluator.elementOf(element()) });
      case 'indexOf':
      case 'push':
      case 'unshift':
        return of(KIND.number, base.from);
    }
    return undefined;
  } finally {
    evaluator.hints = [...hints, ...evaluator.hints];
  }
}

/** The result of calling something from outside the file, such as `JSON.parse` or `fs.readFileSync`. */
export function callBuiltin(
  evaluator: Evaluator,
  external: string,
  node: ts.CallExpression,
  frame: Frame,
): Value | undefined {
  const args = evaluator.args(node, frame);
  const [first = UNKNOWN] = args;
  const from = args.reduce((all, each) => all | each.from, 0);
  const name = external.replace(/^global\./, '');
  switch (name) {
    case 'JSON.parse':
      return of(KIND.any, from & ~FROM.listed, { file: first.file });
    case 'structuredClone':
      return first;
    case 'JSON.stringify':
      return of(KIND.string, from);
    case 'String':
      return of(
        KIND.string,
        first.kinds === KIND.number ? from & ~FROM.record : from,
        first.literal === undefined
          ? { file: first.file, literals: literalsOf(first)?.map(String) }
          : { literal: String(first.literal) },
      );
    case 'Boolean':
      return of(KIND.boolean, from & ~FROM.key, {
        literal: first.literal === undefined ? undefined : Boolean(first.literal),
      });
    case 'Buffer.from':
      return of(KIND.object, from & ~FROM.listed);
    case 'btoa':
    case 'atob':
    case 'encodeURIComponent':
    case 'encodeURI':
      return of(KIND.string, from & ~FROM.listed);
    case 'Number':
    case 'parseFloat':
    case 'parseInt':
    case 'Number.parseFloat':
    case 'Number.parseInt':
      return toNumber(first, node);
    case 'Number.isFinite':
    case 'Number.isInteger':
    case 'Number.isNaN':
    case 'isFinite':
    case 'isNaN':
    case 'Array.isArray':
    case 'Object.hasOwn':
      return of(KIND.boolean, from);
    case 'Object.keys':
      return of(KIND.array, from, { element: of(KIND.string, first.from), count: first.object?.properties.size });
    case 'Object.values':
      return of(KIND.array, from, { element: valuesOf(evaluator, first), count: first.object?.properties.size });
    case 'Object.entries': {
      const pair = of(KIND.array, first.from, { elements: [of(KIND.string, first.from), valuesOf(evaluator, first)] });
      return of(KIND.array, from, { element: pair, count: first.object?.properties.size });
    }
    case 'Object.freeze':
      return first;
    case 'Array.from':
      return of(KIND.array, from, { element: evaluator.elementOf(first) });
    case 'fetch':
      return of(KIND.promise, FROM.record);
    case 'require': {
      const module = typeof first.literal === 'string' ? first.literal.replace(/^node:/, '') : '';
      return of(KIND.any, 0, { external: module });
    }
    case 'path.basename':
      return of(KIND.string, from | FROM.checkedPath);
    case 'path.join':
    case 'path.resolve': {
      const file = args.map((each) => each.literal ?? each.file ?? '*').join('/');
      const literal = args.every((each) => each.literal !== undefined) ? file : undefined;
      return of(KIND.string, from, { literal, file });
    }
    case 'os.tmpdir':
      return of(KIND.string, FROM.ownFolder, { literal: '/tmp' });
    case 'fs.mkdtempSync':
      return of(KIND.string, FROM.ownFolder);
    case 'path.isAbsolute':
      return of(KIND.boolean, from);
    case 'path.relative':
    case 'path.normalize':
    case 'path.dirname':
    case 'path.extname':
      return of(KIND.string, from);
    case 'fs.readFileSync':
      return of(args.length > 1 ? KIND.string : KIND.object, FROM.record, {
        file: String(first.literal ?? first.file ?? ''),
      });
    case 'fs.existsSync':
      return of(KIND.boolean, from);
    case 'fs.readdirSync':
      return of(KIND.array, FROM.listed, { element: of(KIND.string, FROM.listed) });
  }
  if (isClock(external)) return of(KIND.number, FROM.chance);
  if (isChance(external)) return of(/UUID|Bytes/.test(name) ? KIND.any : KIND.number, FROM.chance | from);
  if (/(^|\.)defineAdapter$/.test(name)) return first;
  if (name === 'Promise.withResolvers') return UNKNOWN;
  if (name.startsWith('Promise.') || name.startsWith('fs/promises.')) return of(KIND.promise, FROM.record);
  if (name === 'Math.max' || name === 'Math.min') {
    const spread = node.arguments.find(ts.isSpreadElement);
    const whole = spread ? evaluator.value(spread.expression, frame) : undefined;
    const looked = spread && isGuarded(node, countedName(strip(spread.expression)), false);
    const empty = spread && node.arguments.length === 1 && whole?.elements === undefined && !looked;
    const doubt = args.find((each) => each.doubt)?.doubt ?? whole?.element?.doubt;
    const why = `it is ${name === 'Math.max' ? '-Infinity' : 'Infinity'} for an empty list`;
    const leasts = args.map(leastOf);
    const known = leasts.filter((each) => each !== undefined);
    const sure = name === 'Math.max' ? known.length > 0 : known.length === leasts.length && !spread;
    return of(KIND.number, from | (whole?.from ?? 0), {
      least: sure ? (name === 'Math.max' ? Math.max(...known) : Math.min(...known)) : undefined,
      doubt: doubt ?? (empty ? { what: 'infinite', node, why } : undefined),
    });
  }
  if (name.startsWith('Math.')) {
    const [argument] = node.arguments;
    const logs = /^Math\.log(2|10)?$/.test(name) && argument && !isNonZero(first);
    const infinite =
      logs && !isGuarded(node, countedName(strip(argument)), false)
        ? {
            what: 'infinite' as const,
            node,
            why: `${shortened(argument.getText())} may be 0, and its logarithm is not finite`,
          }
        : undefined;
    const doubt = args.find((each) => each.doubt)?.doubt ?? infinite ?? rootDoubt(evaluator, name, node);
    const least = leastOf(first);
    const rounds = ROUNDS[name];
    return of(KIND.number, from, {
      least: rounds && least !== undefined ? rounds(least) : undefined,
      doubt: doubt && { ...doubt, what: doubt.what === 'undefined' ? 'NaN' : doubt.what },
    });
  }
  return undefined;
}

function valuesOf(evaluator: Evaluator, value: Value): Value {
  if (value.object && value.object.properties.size > 0)
    return [...value.object.properties.values()].map((each) => each.value()).reduce(either);
  return evaluator.elementOf(value);
}
