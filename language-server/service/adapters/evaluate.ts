/**
 * Follows values through one adapter's file: constants, destructuring, helper functions of the same file, callbacks of
 * array methods. Nothing is run. What cannot be followed is unknown, and rules say nothing about the unknown.
 */
import ts from 'typescript6';
import { OutOfBudget } from './budget.ts';
import { callBuiltin, callMember, memberOf } from './builtins.ts';
import { completes, conditionsOf, isGuarded } from './conditions.ts';
import { partOfRecord } from './contract-values.ts';
import { type Declaration, enclosingFunction, isFunction, type Scopes, strip } from './scopes.ts';
import type { Syntax } from './syntax.ts';
import { either, FROM, type Frame, KIND, of, type Property, UNKNOWN, type Value, withFrom } from './values.ts';
import { kindsOfType, partOfType } from './written-types.ts';

/** Calls within calls that are followed. */
const DEEPEST_CALL = 6;
const PLANNERS = FROM.planner | FROM.plannerError;

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
    const home = this.#frameOf(node, frame);
    const known = home.memo.get(node);
    if (known) return known;
    this.tick();
    home.memo.set(node, UNKNOWN);
    const value = this.#evaluate(node, frame);
    home.memo.set(node, value);
    return value;
  }

  /** The frame whose function holds a node; frames of callbacks are asked first. */
  #frameOf(node: ts.Node, frame: Frame): Frame {
    const scope = enclosingFunction(node);
    for (let each: Frame | undefined = frame; each; each = each.parent) if (each.scope === scope) return each;
    return frame;
  }

  #evaluate(node: ts.Expression, frame: Frame): Value {
    if (ts.isStringLiteralLike(node)) return of(KIND.string, 0, { literal: node.text });
    if (ts.isNumericLiteral(node)) return of(KIND.number, 0, { literal: Number(node.text) });
    if (ts.isTemplateExpression(node)) return this.#template(node, frame);
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
      const both = either(this.value(node.whenTrue, frame), this.value(node.whenFalse, frame));
      return withFrom(both, this.value(node.condition, frame).from);
    }
    if (ts.isBinaryExpression(node)) return this.#binary(node, frame);
    if (ts.isPrefixUnaryExpression(node)) return this.#prefix(node, frame);
    if (ts.isPostfixUnaryExpression(node)) return of(KIND.number, this.value(node.operand, frame).from);
    if (ts.isTypeOfExpression(node)) return of(KIND.string, this.value(node.expression, frame).from);
    if (ts.isVoidExpression(node)) return of(KIND.undefined);
    if (ts.isDeleteExpression(node)) return of(KIND.boolean);
    if (ts.isAwaitExpression(node)) {
      const value = this.value(node.expression, frame);
      if (value.kinds & KIND.promise) return value.awaited ?? of(KIND.any, value.from);
      return value;
    }
    if (ts.isObjectLiteralExpression(node)) return this.#object(node, frame);
    if (ts.isArrayLiteralExpression(node)) return this.#array(node, frame);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
      return of(KIND.function, 0, { fn: { node, frame }, node });
    if (ts.isRegularExpressionLiteral(node)) return of(KIND.object, 0, { pattern: node.text });
    if (ts.isNewExpression(node)) return this.#new(node, frame);
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

  #template(node: ts.TemplateExpression, frame: Frame): Value {
    let from = 0;
    let literal: string | undefined = node.head.text;
    for (const span of node.templateSpans) {
      const part = this.value(span.expression, frame);
      from |= part.from;
      if (literal !== undefined && part.literal !== undefined) literal += String(part.literal) + span.literal.text;
      else literal = undefined;
    }
    // Which file is meant can often be told from the constant parts.
    const file = node.head.text + node.templateSpans.map((span) => `*${span.literal.text}`).join('');
    return of(KIND.string, from, { literal, file });
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
    const value = this.#narrowed(this.declared(declaration, frame), node);
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

  /** The value of a declared name. */
  declared(declaration: Declaration, frame: Frame): Value {
    for (let each: Frame | undefined = frame; each; each = each.parent) {
      const bound = each.bindings.get(declaration);
      if (bound) return this.#withWrites(bound, declaration, frame);
    }
    if (this.syntax.broken(declaration) && !ts.isParameter(declaration) && !isFunction(declaration)) {
      // Only declarations of the top level that the text ends in are cut off; others lie in a broken function.
      if (ts.isVariableDeclaration(declaration) && !declaration.initializer) return UNKNOWN;
    }
    if (ts.isVariableDeclaration(declaration)) return this.#variable(declaration, frame);
    if (ts.isBindingElement(declaration)) return this.#bound(declaration, frame);
    if (ts.isFunctionDeclaration(declaration) || ts.isFunctionExpression(declaration))
      return of(KIND.function, 0, {
        fn: { node: declaration, frame: this.#frameOf(declaration, frame) },
        node: declaration,
      });
    if (ts.isParameter(declaration)) {
      const kinds = declaration.type ? kindsOfType(declaration.type, this.scopes) : KIND.any;
      return of(kinds, 0, { written: declaration.type });
    }
    if (ts.isImportSpecifier(declaration)) {
      const module = moduleOf(declaration.parent.parent.parent);
      return of(KIND.any, 0, { external: `${module}.${(declaration.propertyName ?? declaration.name).text}` });
    }
    if (ts.isImportClause(declaration)) return of(KIND.any, 0, { external: moduleOf(declaration.parent) });
    if (ts.isNamespaceImport(declaration)) return of(KIND.any, 0, { external: moduleOf(declaration.parent.parent) });
    return UNKNOWN;
  }

  #variable(declaration: ts.VariableDeclaration, frame: Frame): Value {
    const list = declaration.parent;
    const owner = list?.parent;
    if (owner && ts.isForOfStatement(owner)) {
      const items = this.value(owner.expression, frame);
      return this.elementOf(items);
    }
    if (owner && ts.isForInStatement(owner)) return of(KIND.string, this.value(owner.expression, frame).from);
    if (ts.isCatchClause(declaration.parent)) return UNKNOWN;
    let value: Value;
    if (!declaration.initializer) {
      const written = declaration.type ? kindsOfType(declaration.type, this.scopes) : 0;
      value = of(written & KIND.any ? KIND.any : 0, 0, { written: declaration.type });
    } else {
      value = this.value(declaration.initializer, frame);
      if (declaration.type && value.kinds & KIND.any) value = this.#typed(value, declaration.type);
    }
    return this.#withWrites(value, declaration, frame);
  }

  /** What later assignments, pushes and changed properties make of a variable. */
  #withWrites(first: Value, declaration: Declaration, frame: Frame): Value {
    const writes = this.scopes.writes(declaration);
    if (writes.length === 0) return first.kinds === 0 ? of(KIND.undefined) : first;
    let value = first;
    const home = enclosingFunction(declaration);
    for (const write of writes) {
      // Escapes concern objects only: texts and numbers do not change.
      const reason = () => this.#reason(write.node, home, frame);
      if (write.kind === 'assign') {
        const assigned = withFrom(this.value(write.values[0], frame), reason());
        value = value.kinds === 0 ? assigned : either(value, assigned);
      } else if (write.kind === 'update') {
        const from = write.values.reduce((all, each) => all | this.value(each, frame).from, 0) | reason();
        const isCount = value.kinds === KIND.number;
        value = isCount
          ? { ...withFrom(value, from), literal: undefined }
          : of(value.kinds & ~KIND.any ? value.kinds : KIND.any, value.from | from);
      } else if (write.kind === 'push' && value.kinds & KIND.array) {
        const pushed = write.values.map((each) => this.value(ts.isSpreadElement(each) ? each.expression : each, frame));
        const from = pushed.reduce((all, each) => all | each.from, 0);
        value = {
          ...value,
          elements: undefined,
          element: pushed.reduce(either, value.element ?? pushed[0] ?? UNKNOWN),
          from: value.from | from,
        };
      } else if (value.object) {
        value = { ...value, object: this.#changed(value.object, write.kind, write, frame) };
      }
    }
    return value;
  }

  /** Where the conditions come from under which a write happens. */
  #reason(node: ts.Node, home: ts.Node, frame: Frame): number {
    if (enclosingFunction(node) !== home) return 0;
    return conditionsOf(node, home).reduce(
      (all, condition) => all | (this.value(condition.expression, frame).from & (PLANNERS | FROM.timeout)),
      0,
    );
  }

  #changed(
    object: NonNullable<Value['object']>,
    kind: string,
    write: { property?: string; values: readonly ts.Expression[]; node: ts.Node },
    frame: Frame,
  ): NonNullable<Value['object']> {
    if (kind !== 'property' || write.property === undefined) return { ...object, open: true };
    const properties = new Map(object.properties);
    const before = properties.get(write.property);
    const [expression] = write.values;
    properties.set(write.property, {
      node: write.node,
      name: write.node,
      value: () => {
        const after = expression ? this.value(expression, frame) : UNKNOWN;
        return before ? either(before.value(), after) : after;
      },
      ...(before ? {} : { expression, frame }),
    });
    return { ...object, properties };
  }

  #bound(element: ts.BindingElement, frame: Frame): Value {
    const pattern = element.parent;
    const owner = pattern.parent;
    const whole =
      ts.isBindingElement(owner) || ts.isParameter(owner) || ts.isVariableDeclaration(owner)
        ? this.declared(owner, frame)
        : UNKNOWN;
    let value: Value;
    if (element.dotDotDotToken) value = remaining(whole, pattern);
    else if (ts.isArrayBindingPattern(pattern)) {
      const index = pattern.elements.indexOf(element);
      value = whole.elements?.[index] ?? this.elementOf(whole);
    } else {
      const name = element.propertyName ?? element.name;
      const key = ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined;
      value = key === undefined ? of(KIND.any, whole.from) : this.part(whole, key);
    }
    if (element.initializer) {
      const fallback = this.value(element.initializer, frame);
      const kept = value.kinds & ~KIND.undefined;
      value = kept === 0 ? fallback : either({ ...value, kinds: kept, doubt: undefined, missing: undefined }, fallback);
    }
    return this.scopes.writes(element).length > 0 ? this.#withWrites(value, element, frame) : value;
  }

  #typed(value: Value, type: ts.TypeNode): Value {
    const kinds = kindsOfType(type, this.scopes);
    return {
      ...value,
      kinds: kinds & KIND.any ? value.kinds : kinds | (value.missing ? value.kinds & KIND.undefined : 0),
      written: type,
    };
  }

  #asserted(node: ts.AsExpression | ts.TypeAssertion, frame: Frame): Value {
    const value = this.value(node.expression, frame);
    if (ts.isTypeReferenceNode(node.type) && node.type.typeName.getText() === 'const') return value;
    if ((value.kinds & KIND.any) === 0) return value;
    return this.#typed(value, node.type);
  }

  #property(node: ts.PropertyAccessExpression, frame: Frame): Value {
    const base = this.value(node.expression, frame);
    const value = this.part(base, node.name.text);
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

  /** A named part of a value. */
  part(base: Value, name: string): Value {
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
    // `TrialSummary.success` of CaP-X says that the sandbox ended well, not that the task was done.
    const sandbox = /TrialSummary/.test(base.written?.getText() ?? '') && name === 'success' ? FROM.plannerError : 0;
    const kinds = written ? kindsOfType(written.type, this.scopes) : KIND.any;
    const value: Value = { kinds, from: from | sandbox, written: written?.type, file: base.file };
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
    if (typeof index.literal === 'number' && base.elements) return base.elements[index.literal] ?? of(KIND.undefined);
    if (base.object && !base.object.open && base.object.properties.size > 0) {
      const all = [...base.object.properties.values()].map((property) => property.value());
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
    return this.#chained(value, node, base);
  }

  #call(node: ts.CallExpression, frame: Frame): Value {
    const callee = strip(node.expression);
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
    if (!body || this.syntax.broken(definition)) return isAsync ? of(KIND.promise) : UNKNOWN;
    this.#depth++;
    let value: Value;
    try {
      value = ts.isBlock(body) ? this.#returned(body, frame, node) : this.value(body, frame);
    } finally {
      this.#depth--;
    }
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
      if (value && value.kinds & KIND.any && parameter.type) value = this.#typed(value, parameter.type);
      frame.bindings.set(parameter, value ?? UNKNOWN);
    }
    return frame;
  }

  #returned(body: ts.Block, frame: Frame, at: ts.Node | undefined): Value {
    const values = returnsOf(body).map((each) => {
      const value = each.expression ? this.value(each.expression, frame) : of(KIND.undefined);
      return withFrom(value, this.#reason(each, frame.scope, frame));
    });
    const value = values.length > 0 ? values.reduce(either) : of(KIND.undefined);
    if (values.length === 0 || !completes(body)) return value;
    const doubt = at && { what: 'undefined' as const, node: at, why: 'the function returns nothing on a path' };
    return { ...either(value, of(KIND.undefined)), doubt: value.doubt ?? doubt };
  }

  #binary(node: ts.BinaryExpression, frame: Frame): Value {
    const { kind } = node.operatorToken;
    if (kind === ts.SyntaxKind.EqualsToken) return this.value(node.right, frame);
    if (kind === ts.SyntaxKind.CommaToken) return this.value(node.right, frame);
    const left = this.value(node.left, frame);
    const right = this.value(node.right, frame);
    const from = left.from | right.from;
    const empty = KIND.undefined | KIND.null;
    switch (kind) {
      case ts.SyntaxKind.AmpersandAmpersandToken: {
        // With a simulator's word beside it, the planner's own alone does not decide.
        const independent = [left, right].some((each) => each.from & FROM.record && (each.from & PLANNERS) === 0);
        const joined = either(right, {
          ...left,
          kinds: left.kinds & ~(KIND.object | KIND.array | KIND.function),
          object: undefined,
        });
        const only =
          left.kinds === KIND.boolean ? { ...right, kinds: right.kinds | KIND.boolean, literal: undefined } : joined;
        return { ...only, from: independent ? from & ~PLANNERS : from };
      }
      case ts.SyntaxKind.BarBarToken: {
        const kept = left.kinds & ~empty;
        if (kept === 0) return withFrom(right, from);
        return { ...either({ ...left, kinds: kept, doubt: undefined, missing: undefined }, right), from };
      }
      case ts.SyntaxKind.QuestionQuestionToken: {
        const kept = left.kinds & ~empty;
        if (kept === 0) return withFrom(right, from);
        const doubt = left.doubt?.what === 'undefined' ? undefined : left.doubt;
        return { ...either({ ...left, kinds: kept, doubt, missing: undefined }, right), from };
      }
      case ts.SyntaxKind.PlusToken: {
        if ((left.kinds | right.kinds) === KIND.number) return this.#arithmetic(node, left, right);
        const text = left.kinds === KIND.string || right.kinds === KIND.string;
        const literal =
          left.literal !== undefined && right.literal !== undefined && text
            ? `${left.literal}${right.literal}`
            : undefined;
        const file = `${left.literal ?? left.file ?? '*'}${right.literal ?? right.file ?? '*'}`;
        return of(text ? KIND.string : KIND.any, from, { literal, file });
      }
      case ts.SyntaxKind.MinusToken:
      case ts.SyntaxKind.AsteriskToken:
      case ts.SyntaxKind.AsteriskAsteriskToken:
      case ts.SyntaxKind.SlashToken:
      case ts.SyntaxKind.PercentToken:
        return this.#arithmetic(node, left, right);
      case ts.SyntaxKind.EqualsEqualsEqualsToken:
      case ts.SyntaxKind.EqualsEqualsToken:
      case ts.SyntaxKind.ExclamationEqualsEqualsToken:
      case ts.SyntaxKind.ExclamationEqualsToken:
        for (const [one, other] of [
          [left, right],
          [right, left],
        ])
          if (one.from & FROM.listed && typeof other.literal === 'string') this.hints.push(other.literal);
        return of(KIND.boolean, from);
      case ts.SyntaxKind.LessThanToken:
      case ts.SyntaxKind.GreaterThanToken:
      case ts.SyntaxKind.LessThanEqualsToken:
      case ts.SyntaxKind.GreaterThanEqualsToken:
      case ts.SyntaxKind.InKeyword:
      case ts.SyntaxKind.InstanceOfKeyword:
        return of(KIND.boolean, from);
      case ts.SyntaxKind.AmpersandToken:
      case ts.SyntaxKind.BarToken:
      case ts.SyntaxKind.CaretToken:
      case ts.SyntaxKind.LessThanLessThanToken:
      case ts.SyntaxKind.GreaterThanGreaterThanToken:
      case ts.SyntaxKind.GreaterThanGreaterThanGreaterThanToken:
        return of(KIND.number, from);
    }
    return of(KIND.any, from);
  }

  #arithmetic(node: ts.BinaryExpression, left: Value, right: Value): Value {
    let doubt = left.doubt ?? right.doubt;
    if (doubt?.what === 'undefined') doubt = { ...doubt, what: 'NaN' };
    const divides = [ts.SyntaxKind.SlashToken, ts.SyntaxKind.PercentToken].includes(node.operatorToken.kind);
    if (!doubt && divides && (right.literal === undefined || right.literal === 0)) {
      const divisor = strip(node.right);
      // A config's limits and a count raised by a number are not zero.
      const raised = /Math\.max\(|\|\||\+\s*\d/.test(divisor.getText());
      const counts =
        right.literal === 0 ||
        right.from & FROM.record ||
        /\.(length|size)$/.test(divisor.getText()) ||
        this.#isCount(divisor);
      if (counts && !raised && !isGuarded(node, countedName(divisor), false))
        doubt = { what: 'NaN', node, why: `${shortened(divisor.getText())} may be 0, and 0 / 0 is NaN` };
    }
    return of(KIND.number, left.from | right.from, { doubt });
  }

  /** A constant that is some list's length. */
  #isCount(node: ts.Expression): boolean {
    if (!ts.isIdentifier(node)) return false;
    const declaration = this.scopes.resolve(node);
    return (
      declaration !== undefined &&
      ts.isVariableDeclaration(declaration) &&
      /\.(length|size)$/.test(declaration.initializer?.getText() ?? '')
    );
  }

  #prefix(node: ts.PrefixUnaryExpression, frame: Frame): Value {
    const value = this.value(node.operand, frame);
    switch (node.operator) {
      case ts.SyntaxKind.ExclamationToken:
        return of(KIND.boolean, value.from, typeof value.literal === 'boolean' ? { literal: !value.literal } : {});
      case ts.SyntaxKind.PlusToken:
        return this.number(value, node);
      case ts.SyntaxKind.MinusToken:
        return of(KIND.number, value.from, {
          doubt: value.doubt,
          ...(typeof value.literal === 'number' ? { literal: -value.literal } : {}),
        });
    }
    return of(KIND.number, value.from);
  }

  /** What `Number(value)` is: NaN where the value is no number's text. */
  number(value: Value, node: ts.Expression): Value {
    if (typeof value.literal === 'string') {
      const number = Number(value.literal);
      if (Number.isFinite(number)) return of(KIND.number, value.from, { literal: number });
    }
    if (typeof value.literal === 'number') return of(KIND.number, value.from, { literal: value.literal });
    const safe = (value.kinds & ~(KIND.number | KIND.boolean | KIND.null)) === 0 || value.pattern === 'number';
    const doubt =
      value.doubt ??
      (safe ? undefined : { what: 'NaN' as const, node, why: `it is NaN where the text is not a number` });
    return of(KIND.number, value.from, {
      doubt: doubt && { ...doubt, what: doubt.what === 'undefined' ? 'NaN' : doubt.what },
    });
  }

  #object(node: ts.ObjectLiteralExpression, frame: Frame): Value {
    const properties = new Map<string, Property>();
    let open = this.syntax.broken(node);
    let from = 0;
    for (const member of node.properties) {
      if (ts.isSpreadAssignment(member)) {
        const spread = this.value(member.expression, frame);
        from |= spread.from;
        if (spread.object && !spread.object.open)
          for (const [name, each] of spread.object.properties) properties.set(name, { ...each, node: member });
        else open = true;
        continue;
      }
      const name = member.name && keyText(member.name, this, frame);
      if (name === undefined) {
        open = true;
        continue;
      }
      properties.set(name, this.#member(member, frame));
      if (ts.isPropertyAssignment(member)) from |= this.value(member.initializer, frame).from & FROM.key;
    }
    return of(KIND.object, from, { object: { node, properties, open }, node });
  }

  #member(member: Exclude<ts.ObjectLiteralElementLike, ts.SpreadAssignment>, frame: Frame): Property {
    const name = member.name as ts.Node;
    if (ts.isPropertyAssignment(member)) {
      const expression = member.initializer;
      return { node: member, name, value: () => this.value(expression, frame), expression, frame };
    }
    if (ts.isShorthandPropertyAssignment(member)) {
      const expression = member.name;
      return { node: member, name, value: () => this.value(expression, frame), expression, frame };
    }
    if (ts.isMethodDeclaration(member))
      return { node: member, name, value: () => of(KIND.function, 0, { fn: { node: member, frame }, node: member }) };
    return { node: member, name, value: () => UNKNOWN };
  }

  #array(node: ts.ArrayLiteralExpression, frame: Frame): Value {
    let elements: Value[] | undefined = [];
    let from = 0;
    const all: Value[] = [];
    for (const each of node.elements) {
      if (ts.isSpreadElement(each)) {
        const spread = this.value(each.expression, frame);
        from |= spread.from;
        if (spread.elements) {
          elements?.push(...spread.elements);
          all.push(...spread.elements);
        } else {
          elements = undefined;
          all.push(this.elementOf(spread));
        }
      } else {
        const value = this.value(each, frame);
        from |= value.from;
        elements?.push(value);
        all.push(value);
      }
    }
    const element = elements === undefined && all.length > 0 ? all.reduce(either) : undefined;
    return of(KIND.array, from, { elements, element, node });
  }

  #new(node: ts.NewExpression, frame: Frame): Value {
    const name = this.value(node.expression, frame).external ?? '';
    const args = this.args(node, frame);
    const from = args.reduce((all, each) => all | each.from, 0);
    if (name === 'global.Promise') return of(KIND.promise);
    if (name === 'global.RegExp') return of(KIND.object, from, { pattern: String(args[0]?.literal ?? '') });
    if (name === 'global.Set' || name === 'global.Map')
      return of(KIND.object, from, { element: args[0] && this.elementOf(args[0]) });
    return of(KIND.object, from);
  }
}

/** What `...rest` holds: the parts that are not named beside it. */
function remaining(whole: Value, pattern: ts.BindingPattern): Value {
  if (!whole.object)
    return of(whole.kinds & KIND.array ? KIND.array : KIND.object | KIND.any, whole.from, { element: whole.element });
  const properties = new Map(whole.object.properties);
  for (const each of pattern.elements) {
    if (!ts.isBindingElement(each) || each.dotDotDotToken) continue;
    const name = each.propertyName ?? each.name;
    if ('text' in name) properties.delete(name.text);
  }
  const held = [...properties.values()].reduce((all, each) => all | (each.value().from & FROM.key), 0);
  return of(KIND.object, (whole.from & ~FROM.key) | held, { object: { ...whole.object, properties } });
}

/** Return statements of a function's body, not of functions within. */
export function returnsOf(body: ts.Node): ts.ReturnStatement[] {
  const found: ts.ReturnStatement[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node)) found.push(node);
    if (!isFunction(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(body, visit);
  return found;
}

function keyText(name: ts.PropertyName, evaluator: Evaluator, frame: Frame): string | undefined {
  if (ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
  if (!ts.isComputedPropertyName(name)) return undefined;
  const { literal } = evaluator.value(name.expression, frame);
  return literal === undefined ? undefined : String(literal);
}

function moduleOf(node: ts.Node): string {
  const specifier = ts.isImportDeclaration(node) ? node.moduleSpecifier : undefined;
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text.replace(/^node:/, '') : '';
}

function externalMember(base: string, name: string): string {
  if (base === 'global.globalThis') return `global.${name}`;
  if (name === 'default') return base;
  if (base === 'fs' && name === 'promises') return 'fs/promises';
  if (base === 'path' && (name === 'posix' || name === 'win32')) return 'path';
  return `${base}.${name}`;
}

/** The name a check of an expression would mention: `seams` for `read.seams.length`, `end` for `read.end`. */
function countedName(node: ts.Expression): string {
  if (ts.isCallExpression(node)) return countedName(strip(node.expression));
  if (ts.isElementAccessExpression(node)) return countedName(strip(node.expression));
  if (!ts.isPropertyAccessExpression(node)) return node.getText();
  return ['length', 'size'].includes(node.name.text) ? countedName(strip(node.expression)) : node.name.text;
}

/** An expression's text on one line, cut to what fits into a message. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
