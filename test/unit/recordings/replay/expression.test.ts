import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExpressionError, holds, parseExpression } from '../../../../recordings/replay/expression.ts';

const VALUES: Record<string, unknown> = {
  advantage: -0.75,
  turn: 4,
  tool: 'pick',
  valid: true,
  held: null,
  arguments: { object: 'red-cube', 'a b': [10, 20, { deep: 'x' }] },
  rewards: [0, 1],
};
const value = (text: string) => parseExpression(text, Object.keys(VALUES)).evaluate((name) => VALUES[name]);
const problem = (text: string): string => {
  try {
    value(text);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
  return 'none';
};

describe('an expression', () => {
  it.each<[string, unknown]>([
    ['advantage < -0.5 && turn > 3', true],
    ['advantage < -0.5 && turn > 4', false],
    ['1 + 2 * 3 - 4 / 2 % 3', 5],
    ['-(1 + 2) * -2', 6],
    ['1 - 2 - 3', -4],
    ['8 / 2 / 2', 2],
    ['1.5e1 == 15 && .5 < 1', true],
    ['true || advantage > "x"', true],
    ['!valid', false],
    ['!!held', false],
    ['tool == "pick" || tool == \'place\'', true],
    ['tool + "ed" == "picked"', true],
    ['"a" < "b" && !("b" <= "a")', true],
    ['tool contains "ic"', true],
    ['rewards contains 1 && !(rewards contains 2)', true],
    ['held contains 1', false],
    ['arguments.object', 'red-cube'],
    ['arguments["a b"][2].deep', 'x'],
    ['arguments["a b"].length', 3],
    ['tool.length', 4],
    ['rewards == arguments["a b"]', false],
    // What is not there is null, and compares with nothing.
    ['arguments.none.further[3]', null],
    ['held', null],
    ['held < 1 || held > 1 || held >= 1', false],
    ['held == null && held != 0', true],
    ['held + 1', null],
    ['-held', null],
    // Nothing inherited is reached.
    ['arguments.constructor', null],
    ['arguments.__proto__', null],
    ['arguments["toString"]', null],
    ['tool.constructor', null],
    ['rewards.constructor.constructor', null],
    ['"\\n\\"\\\\" == "\\n" + "\\"" + "\\\\"', true],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it.each([
    ['', 'there is nothing to evaluate (column 1)'],
    ['  ', 'there is nothing to evaluate (column 1)'],
    ['advantge < 1', 'there is no "advantge"; did you mean "advantage"? (column 1)'],
    ['turn > 3 && xyzzy', 'there is no "xyzzy" (column 13)'],
    ['turn = 3', '"=" is not understood; compare with == (column 6)'],
    ['turn > 3 & valid', '"&" is not understood; write && for "and" (column 10)'],
    ['turn >', 'the expression is not complete (column 7)'],
    ['(turn > 3', 'a ")" is missing for the "(" of column 1 (column 10)'],
    ['turn > 3)', ') is not expected here (column 9)'],
    ['turn 3', '3 is not expected here (column 6)'],
    ['"open', 'the text that begins here has no closing " (column 1)'],
    ['1 < turn < 3', 'comparisons cannot follow each other; put && between two of them (column 10)'],
    ['3px', 'this is no number (column 1)'],
    ['1.2.3', 'this is no number (column 1)'],
    ['arguments.3', '.3 is not expected here (column 10)'],
    ['arguments. ', 'after "." comes the name of a field (column 12)'],
    ['arguments[turn]', 'in "[]" comes a whole number or a text (column 11)'],
    ['arguments[1', 'a "]" is missing (column 12)'],
    ['process.exit()', '( is not expected here (column 13)'],
    ['process.exit', 'there is no "process" (column 1)'],
    ['turn()', '( is not expected here (column 5)'],
    ['turn > "3"', '">" needs numbers, or two texts to compare; this is a text (column 6)'],
    ['-tool', '"-" needs numbers, or two texts to compare; this is a text (column 1)'],
    ['rewards * 2', '"*" needs numbers, or two texts to compare; this is a list (column 9)'],
    ['valid + 1', '"+" needs numbers, or two texts to compare; this is boolean (column 7)'],
    ['é😀', '"😀" is not understood (column 2)'],
    [`${'('.repeat(65)}1`, 'the expression is nested too deeply (column 65)'],
    [`${'!'.repeat(65)}1`, 'the expression is nested too deeply (column 65)'],
    [`1${'+1'.repeat(70)}`, 'the expression is too long (column 130)'],
    [`turn${'.a'.repeat(70)}`, 'the path is too long (column 1)'],
    ['1'.repeat(1001), 'an expression has at most 1000 characters, this one has 1001 (column 1001)'],
  ])('%s is refused', (text, said) => {
    expect(problem(text)).toBe(said);
  });

  it('names what it asks for, once each', () => {
    expect(parseExpression('turn > 1 && turn < advantage || arguments.turn == 1').names).toEqual([
      'turn',
      'advantage',
      'arguments',
    ]);
  });

  it('of any text is a tree or an error with a place in the text', () => {
    const pieces = fc.constantFrom(
      ...[
        'turn',
        'advantage',
        '.',
        '[',
        ']',
        '(',
        ')',
        '&&',
        '||',
        '!',
        '<',
        '==',
        '-',
        '+',
        '*',
        '/',
        '%',
        '1',
        '"x"',
      ],
      ...["'", '"', '\\', '=', '3.5e2', ' ', 'contains', 'null', '\u0000', '😀', '__proto__'],
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 30 }).map((all) => all.join('')),
        ),
        (text) => {
          try {
            parseExpression(text).evaluate((name) => VALUES[name]);
          } catch (error) {
            if (!(error instanceof ExpressionError)) throw error;
            expect(error.column).toBeGreaterThanOrEqual(1);
            expect(error.column).toBeLessThanOrEqual(text.length + 1);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('calculates as JavaScript does', () => {
    type Sum = { text: string; value: number | boolean };
    const { tree } = fc.letrec<{ tree: Sum; leaf: Sum; pair: Sum; not: Sum }>((tie) => ({
      tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), tie('pair'), tie('not')),
      leaf: fc.integer({ min: 0, max: 99 }).map((n) => ({ text: `${n}`, value: n })),
      not: tie('tree').map((of) => ({ text: `!(${of.text})`, value: !of.value })),
      pair: fc
        .tuple(tie('tree'), fc.constantFrom('+', '-', '*', '/', '%', '<', '<=', '>', '>=', '&&', '||'), tie('tree'))
        .map(([a, operator, b]) => {
          // Numbers only where numbers are needed.
          const [left, right] = ['&&', '||'].includes(operator) ? [a, b] : [numeric(a), numeric(b)];
          const text = `(${left.text} ${operator} ${right.text})`;
          return { text, value: apply(operator, left.value, right.value) };
        }),
    }));
    const numeric = (of: Sum): Sum => (typeof of.value === 'number' ? of : { text: '7', value: 7 });
    fc.assert(
      fc.property(tree, ({ text, value: expected }) => {
        fc.pre(text.length <= 1000);
        expect(parseExpression(text).evaluate(() => null)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('holds as a condition where it says something', () => {
    expect([true, 1, 'x', [], {}].map(holds)).toEqual([true, true, true, true, true]);
    expect([false, 0, '', null, Number.NaN].map(holds)).toEqual([false, false, false, false, false]);
  });
});

/** What JavaScript makes of it. */
function apply(operator: string, a: number | boolean, b: number | boolean): number | boolean {
  if (operator === '&&') return a && b;
  if (operator === '||') return a || b;
  const [x, y] = [a as number, b as number];
  const results: Record<string, number | boolean> = {
    ...{ '+': x + y, '-': x - y, '*': x * y, '/': x / y, '%': x % y },
    ...{ '<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y },
  };
  return results[operator];
}
