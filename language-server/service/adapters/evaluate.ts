/**
 * Follows values through one adapter's file: constants, destructuring, helper functions of the same file, callbacks of
 * array methods. Nothing is run. What cannot be followed is unknown, and rules say nothing about the unknown.
 */
import ts from 'typescript6';
import { OutOfBudget } from './budget.ts';
import { callBuiltin, callMember, memberOf } from './builtins.ts';
import { completes, isGuarded, returnsOf } from './conditions.ts';
import { partOfRecord, sourceInSummary } from './contract-values.ts';
import { exhaustive } from './endings.ts';
import { arrayLiteral, created, objectLiteral, templateText } from './literals.ts';
import { declared, reason } from './names.ts';
import { binary, prefix } from './operators.ts';
import { enclosingFunction, type Scopes, strip } from './scopes.ts';
import type { Syntax } from './syntax.ts';
import { either, FROM, type Frame, KIND, literalsOf, of, UNKNOWN, type Value, withFrom } from './values.ts';
import { countedName, shortened } from './wording.ts';
import { kindsOfType, literalsOfPart, literalsOfType, partOfType } from './written-types.ts';

/** Calls within calls that are followed. */
const DEEPEST_CALL = 6;

export class Evaluator {
  readonly file: Frame;
  readonly syntax: Syntax;
  readonly scopes: Scopes;
  readonly #deadline: number;
  #steps = 0;
  #depth = 0;
  /** Names compared with those of listed files while a callback is followed: what file it looks for. */
  hints: string[] = [];

  /** @param deadline in `performance.now()`'s time. */
  constructor(syntax: Syntax, scopes: Scopes, deadline: number) {
    this.syntax = syntax;
    this.scopes = scopes;
    this.#deadline = deadline;
    this.file = { scope: syntax.source, bindings: new Map(), memo: new Map() };
  }

  /** @throws OutOfBudget when the analysis has taken too long. */
  tick(): void {
    if ((++this.#steps & 255) === 0 && performance.now() > this.#deadline) throw new OutOfBudget();
  }

  /** The value of an expression in a function's frame. */
  value(node: ts.Expression, frame: Frame): Value {
    const home = this.frameOf(node, frame);
    const known = home.memo.get(node);
    if (known) return known;
    this.tick();
    home.memo.set(node, UNKNOWN);
    const value = this.#evaluate(node, frame);
    home.memo.set(node, value);
    return value;
  }

  /** The frame whose function holds a node; frames of callbacks are asked first. */
  frameOf(node: ts.Node, frame: Frame): Frame {
    const scope = enclosingFunction(node);
    for (let each: Frame | undefined = frame; each; each = each.parent) if (each.scope === scope) return each;
    return frame;
  }

  #evaluate(node: ts.Expression, frame: Frame): Value {
    if (ts.isStringLiteralLike(node)) return of(KIND.string, 0, { literal: node.text });
    if (ts.isNumericLiteral(node)) return of(KIND.number, 0, { literal: Number(node.text) });
    if (ts.isTemplateExpression(node)) return templateText(this, node, frame);
    if (ts.isIdentifier(node)) return this.#identifier(node, frame);
    if (ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node)) return this.value(node.expression, frame);
    if (ts.isNonNullExpression(node)) {
      const value = this.value(node.expression, frame);
      return { ...value, kinds: value.kinds & ~(KIND.undefined | KIND.null) || KIND.any };
    }
    if (ts.isAsExpression(node) || ts.isTypeAssertionExpression(node)) return this.#asserted(node, frame);
    if (ts.isPropertyAccessExpression(node)) return this.#property(node, frame);
    if (ts.isElementAccessExpression(node)) return this.#element(node, frame);
    if (ts.isCallExpression(node)) return this.#call(node, frame);
    if (ts.isConditionalExpression(node)) {
      // A branch chosen by looking at its own value is not 0 there, as in `n > 0 ? n : 1`.
      const branch = (each: ts.Expression): Value => {
        const value = this.value(each, frame);
        const looked = value.literal === undefined && isGuarded(each, countedName(strip(each)), false);
        return looked ? { ...value, nonZero: true } : value;
      };
      const both = either(branch(node.whenTrue), branch(node.whenFalse));
      return withFrom(both, this.value(node.condition, frame).from & ~FROM.key);
    }
    if (ts.isBinaryExpression(node)) return binary(this, node, frame);
    if (ts.isPrefixUnaryExpression(node)) return prefix(this, node, frame);
    if (ts.isPostfixUnaryExpression(node)) return of(KIND.number, this.value(node.operand, frame).from);
    if (ts.isTypeOfExpression(node)) return of(KIND.string, this.value(node.expression, frame).from & ~FROM.key);
    if (ts.isVoidExpression(node)) return of(KIND.undefined);
    if (ts.isDeleteExpression(node)) return of(KIND.boolean);
    if (ts.isAwaitExpression(node)) {
      const value = this.value(node.expression, frame);
      if (value.kinds & KIND.promise) return value.awaited ?? of(KIND.any, value.from);
      return value;
    }
    if (ts.isObjectLiteralExpression(node)) return objectLiteral(this, node, frame);
    if (ts.isArrayLiteralExpression(node)) return arrayLiteral(this, node, frame);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
      return of(KIND.function, 0, { fn: { node, frame }, node });
    if (ts.isRegularExpressionLiteral(node)) return of(KIND.object, 0, { pattern: node.text });
    if (ts.isNewExpression(node)) return created(this, node, frame);
    switch (node.kind) {
      case ts.SyntaxKind.TrueKeyword:
        return of(KIND.boolean, 0, { literal: true });
      case ts.SyntaxKind.FalseKeyword:
        return of(KIND.boolean, 0, { literal: false });
      case ts.SyntaxKind.NullKeyword:
        return of(KIND.null);
    }
    return UNKNOWN;
  }

  #identifier(node: ts.Identifier, frame: Frame): Value {
    const declaration = this.scopes.resolve(node);
    if (!declaration) {
      if (node.text === 'undefined') return of(KIND.undefined, 0);
      if (node.text === 'NaN' || node.text === 'Infinity') {
        const what = node.text === 'NaN' ? 'NaN' : 'infinite';
        return of(KIND.number, 0, { doubt: { what, node, why: `it is ${node.text}` } });
      }
      return of(KIND.any, 0, { external: `global.${node.text}` });
    }
    const value = this.#narrowed(declared(this, declaration, frame), node);
    return value.doubt || value.missing ? this.#checked(value, node, node.text) : value;
  }

  /** In `x === undefined ? a : x` and behind `if (x === undefined) return`, x is not undefined. */
  #narrowed(value: Value, node: ts.Identifier): Value {
    const empty = KIND.undefined | KIND.null;
    if ((value.kinds & empty) === 0 || (value.kinds & ~empty) === 0 || !isGuarded(node, node.text, false)) return value;
    return { ...value, kinds: value.kinds & ~empty };
  }

  /** A value that was looked at before is not doubtful any more. */
  #checked(value: Value, use: ts.Node, name: string): Value {
    const checked = { ...value };
    if (isGuarded(use, name, true)) {
      delete checked.missing;
    }
    if (isGuarded(use, name, false)) delete checked.doubt;
    return checked;
  }

  typed(value: Value, type: ts.TypeNode): Value {
    const kinds = kindsOfType(type, this.scopes);
    return {
      ...value,
      kinds: kinds & KIND.any ? value.kinds : kinds | (value.missing ? value.kinds & KIND.undefined : 0),
      literals: value.literals ?? literalsOfType(type, this.scopes),
      written: type,
    };
  }

  #asserted(node: ts.AsExpression | ts.TypeAssertion, frame: Frame): Value {
    const value = this.value(node.expression, frame);
    if (ts.isTypeReferenceNode(node.type) && node.type.typeName.getText() === 'const') return value;
    if (value.kinds & KIND.any) return this.typed(value, node.type);
    const literals = value.literal === undefined ? literalsOfType(node.type, this.scopes) : undefined;
    return literals ? { ...value, literals } : value;
  }

  #property(node: ts.PropertyAccessExpression, frame: Frame): Value {
    const base = this.value(node.expression, frame);
    const value = this.part(base, node.name.text, ts.isIdentifier(node.expression) ? node.expression.text : '');
    return this.#chained(this.#checkedPath(value, node), node, base);
  }

  /** `a.b` looked at in an earlier condition, by its last name. */
  #checkedPath(value: Value, node: ts.PropertyAccessExpression): Value {
    if (!value.doubt && (value.kinds & (KIND.undefined | KIND.null)) === 0) return value;
    if (!isGuarded(node, node.name.text, false)) return value;
    const kinds = value.kinds & ~(KIND.undefined | KIND.null) || KIND.any;
    return { ...value, doubt: undefined, kinds };
  }

  /** `a?.b` is undefined where `a` may be. */
  #chained(
    value: Value,
    node: ts.PropertyAccessExpression | ts.ElementAccessExpression | ts.CallExpression,
    base: Value,
  ): Value {
    if (!node.questionDotToken && !ts.isOptionalChain(node)) return value;
    if (node.questionDotToken) {
      const empty = KIND.undefined | KIND.null;
      if ((base.kinds & (empty | KIND.any)) === 0) return value;
      const left = (node.expression as ts.Expression).getText();
      if (ts.isIdentifier(node.expression) && isGuarded(node, node.expression.text, false)) return value;
      const doubt = { what: 'undefined' as const, node, why: `it is undefined where ${shortened(left)} is` };
      return { ...value, kinds: value.kinds | KIND.undefined, doubt: value.doubt ?? doubt };
    }
    return base.doubt?.what === 'undefined'
      ? { ...value, kinds: value.kinds | KIND.undefined, doubt: base.doubt }
      : value;
  }

  /** A named part of a value. @param called the variable that holds the value, if one does. */
  part(base: Value, name: string, called = ''): Value {
    if (base.object) {
      const property = base.object.properties.get(name);
      if (property) return property.value();
      return base.object.open ? of(KIND.any, base.from & ~FROM.key) : memberOf(base, name);
    }
    if (base.external) return of(KIND.any, 0, { external: externalMember(base.external, name) });
    if (base.kinds & KIND.promise && (base.kinds & ~KIND.promise) === 0) return UNKNOWN;
    const member = memberOf(base, name);
    if (member !== UNKNOWN) return member;
    const from = partOfRecord(base, name);
    const written = base.written && partOfType(base.written, name, this.scopes);
    const kinds = written ? kindsOfType(written.type, this.scopes) : KIND.any;
    const literals = base.written && literalsOfPart(base.written, name, this.scopes);
    const value: Value = {
      kinds,
      from: from | sourceInSummary(base, called, name),
      written: written?.type,
      file: base.file,
      literals,
    };
    if (from & FROM.record) value.name = base.name === undefined ? name : `${base.name}.${name}`;
    if (written?.optional) {
      value.kinds |= KIND.undefined;
      value.doubt = { what: 'undefined', node: written.type, why: `its type says that "${name}" may be left out` };
    }
    return value;
  }

  elementOf(items: Value): Value {
    if (items.element) return items.element;
    if (items.elements && items.elements.length > 0) return items.elements.reduce(either);
    const written = items.written && partOfType(items.written, '[]', this.scopes);
    const from = items.from;
    if (written) return of(kindsOfType(written.type, this.scopes), from, { written: written.type, file: items.file });
    return of(KIND.any, from, { file: items.file });
  }

  #element(node: ts.ElementAccessExpression, frame: Frame): Value {
    const base = this.value(node.expression, frame);
    const index = this.value(node.argumentExpression, frame);
    if (typeof index.literal === 'string') return this.#chained(this.part(base, index.literal), node, base);
    if (typeof index.literal === 'number' && base.groups) return this.#group(base.groups, index.literal, node);
    if (typeof index.literal === 'number' && base.elements) return base.elements[index.literal] ?? of(KIND.undefined);
    if (base.object && !base.object.open && base.object.properties.size > 0) {
      const { properties } = base.object;
      const keys = literalsOf(index);
      // `W[won ? 'won' : 'lost']`: the object holds all it can be asked for.
      if (keys?.every((key) => properties.has(String(key))))
        return withFrom(keys.map((key) => this.part(base, String(key))).reduce(either), index.from);
      const all = [...properties.values()].map((property) => property.value());
      const doubt = {
        what: 'undefined' as const,
        node,
        why: `${shortened(node.getText())} is undefined for a key it does not hold`,
      };
      const safe =
        (index.kinds & (KIND.string | KIND.any)) === 0 ||
        isGuarded(node, countedName(strip(node.argumentExpression)), false);
      return withFrom({ ...all.reduce(either), ...(safe ? {} : { doubt }) }, index.from);
    }
    const value = withFrom(this.elementOf(base), index.from);
    return this.#chained(this.#last(value, node, base), node, base);
  }

  /** A match's group, which may have been looked at before by its number. */
  #group(groups: readonly Value[], index: number, node: ts.ElementAccessExpression): Value {
    const group = groups[index];
    if (!group) return of(KIND.undefined);
    const place = node.expression.getText();
    const same = (each: ts.Node): boolean =>
      (ts.isElementAccessExpression(each) &&
        each.expression.getText() === place &&
        Number(each.argumentExpression.getText()) === index) ||
      (ts.forEachChild(each, (child) => same(child) || undefined) ?? false);
    if (!group.doubt || !isGuarded(node, countedName(strip(node.expression)), false, same)) return group;
    return { ...group, kinds: KIND.string, doubt: undefined };
  }

  /** `xs[xs.length - 1]` of a list that may be empty, or one of the listed files. */
  #last(value: Value, node: ts.ElementAccessExpression, base: Value): Value {
    const written = strip(node.argumentExpression);
    const declaration = ts.isIdentifier(written) ? this.scopes.resolve(written) : undefined;
    const constant =
      declaration && ts.isVariableDeclaration(declaration) && this.scopes.writes(declaration).length === 0
        ? declaration.initializer
        : undefined;
    const index = strip(constant ?? written);
    const name = countedName(strip(node.expression));
    const isLast =
      ts.isBinaryExpression(index) &&
      index.operatorToken.kind === ts.SyntaxKind.MinusToken &&
      /\.length$/.test(index.left.getText()) &&
      countedName(strip(index.left)) === name;
    // Of files that are listed, even the first may not be there.
    const isFile = (base.from & FROM.listed) !== 0 && ts.isNumericLiteral(index);
    if ((!isLast && !isFile) || (base.count ?? 0) > 0 || isGuarded(node, name, false)) return value;
    const doubt = { what: 'undefined' as const, node, why: 'the list may be empty' };
    return { ...value, kinds: value.kinds | KIND.undefined, doubt: value.doubt ?? doubt };
  }

  #call(node: ts.CallExpression, frame: Frame): Value {
    const callee = strip(node.expression);
    if (callee.kind === ts.SyntaxKind.ImportKeyword) {
      const [module] = this.args(node, frame);
      const external = typeof module?.literal === 'string' ? module.literal.replace(/^node:/, '') : undefined;
      return of(KIND.promise, 0, { awaited: of(KIND.any, 0, { external }) });
    }
    if (ts.isPropertyAccessExpression(callee)) {
      const base = this.value(callee.expression, frame);
      const value = callMember(this, base, callee.name.text, node, frame);
      if (value) return this.#chained(value, callee, base);
    }
    const target = this.value(callee, frame);
    if (target.call) return target.call(this.args(node, frame), node);
    if (target.fn) return this.#chained(this.invoke(target.fn, this.args(node, frame), node), node, target);
    if (target.external) {
      const value = callBuiltin(this, target.external, node, frame);
      if (value) return value;
    }
    const args = this.args(node, frame);
    const from = args.reduce((all, each) => all | each.from, target.from) & ~(FROM.key | FROM.listed);
    // A wrapper we cannot see into may hand on the adapter it was given.
    const adapter = args.find((each) => each.object?.properties.has('outcome'))?.object;
    return of(KIND.any, from, target.external && adapter ? { object: { ...adapter, open: true } } : {});
  }

  args(node: ts.CallExpression | ts.NewExpression, frame: Frame): Value[] {
    return (node.arguments ?? []).map((each) => (ts.isSpreadElement(each) ? UNKNOWN : this.value(each, frame)));
  }

  /** What a function of the file returns for these arguments. */
  invoke(fn: NonNullable<Value['fn']>, args: readonly Value[], node?: ts.Node): Value {
    const frame = this.frame(fn, args);
    if (!frame) return UNKNOWN;
    const { node: definition } = fn;
    const isAsync = definition.modifiers?.some((each) => each.kind === ts.SyntaxKind.AsyncKeyword) ?? false;
    if ('asteriskToken' in definition && definition.asteriskToken) return UNKNOWN;
    const { body } = definition;
    const type = definition.type;
    if (!body || this.syntax.broken(definition))
      return isAsync ? of(KIND.promise) : type ? this.typed(UNKNOWN, type) : UNKNOWN;
    this.#depth++;
    let value: Value;
    try {
      value = ts.isBlock(body) ? this.#returned(body, frame, node) : this.value(body, frame);
    } finally {
      this.#depth--;
    }
    if (type && !isAsync && value.kinds & KIND.any) value = this.typed(value, type);
    if (isAsync && (value.kinds & KIND.promise) === 0) value = of(KIND.promise, value.from, { awaited: value });
    return value;
  }

  /** A frame with a function's parameters bound; undefined when calls are nested too deeply. */
  frame(fn: NonNullable<Value['fn']>, args: readonly Value[]): Frame | undefined {
    if (this.#depth > DEEPEST_CALL) return undefined;
    const frame: Frame = { scope: fn.node, parent: fn.frame, bindings: new Map(), memo: new Map() };
    for (const [i, parameter] of fn.node.parameters.entries()) {
      if (parameter.dotDotDotToken) {
        const rest = args.slice(i);
        frame.bindings.set(
          parameter,
          of(
            KIND.array,
            rest.reduce((all, each) => all | each.from, 0),
            { elements: rest },
          ),
        );
        break;
      }
      let value = args[i] ?? (parameter.initializer ? undefined : UNKNOWN);
      if (parameter.initializer && (value === undefined || value.kinds === KIND.undefined))
        value = this.value(parameter.initializer, fn.frame);
      if (value && value.kinds & KIND.any && parameter.type) value = this.typed(value, parameter.type);
      frame.bindings.set(parameter, value ?? UNKNOWN);
    }
    return frame;
  }

  #returned(body: ts.Block, frame: Frame, at: ts.Node | undefined): Value {
    const values = returnsOf(body).map((each) => {
      const value = each.expression ? this.value(each.expression, frame) : of(KIND.undefined);
      return withFrom(value, reason(this, each, frame.scope, frame));
    });
    const value = values.length > 0 ? values.reduce(either) : of(KIND.undefined);
    if (values.length === 0 || !completes(body, exhaustive(this, frame))) return value;
    const doubt = at && { what: 'undefined' as const, node: at, why: 'the function returns nothing on a path' };
    return { ...either(value, of(KIND.undefined)), doubt: value.doubt ?? doubt };
  }
}

function externalMember(base: string, name: string): string {
  if (base === 'global.globalThis') return `global.${name}`;
  if (name === 'default') return base;
  if (base === 'fs' && name === 'promises') return 'fs/promises';
  if (base === 'path' && (name === 'posix' || name === 'win32')) return 'path';
  return `${base}.${name}`;
}
