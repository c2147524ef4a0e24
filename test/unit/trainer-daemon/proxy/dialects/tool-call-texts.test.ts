import { expect, it } from 'vitest';
import { ToolCallTexts } from '../../../../../trainer-daemon/proxy/dialects/tool-call-texts.ts';

it('keeps a bounded amount: the oldest calls go first', () => {
  const texts = new ToolCallTexts();
  const long = (i: number) => `{"code":  "${i}${'x'.repeat(1024 * 1024)}"}`;
  for (let i = 0; i < 40; i++) texts.remember(`c${i}`, long(i), JSON.parse(long(i)));
  expect(texts.textOf('c39', JSON.parse(long(39)))).toBe(long(39));
  expect(texts.textOf('c0', JSON.parse(long(0)))).toBe(JSON.stringify(JSON.parse(long(0))));
});

it('numbers that JSON changes on its way are still the same call', () => {
  const texts = new ToolCallTexts();
  const text = '{"a": -0, "b": 1.0, "c": 12345678901234567890}';
  texts.remember('c', text, JSON.parse(text));
  expect(texts.textOf('c', JSON.parse(JSON.stringify(JSON.parse(text))))).toBe(text);
  expect(texts.textOf('c', JSON.parse('{"c":12345678901234567000,"b":1,"a":-0.0}'))).toBe(text);
  expect(texts.textOf('other', { a: 1 })).toBe('{"a":1}');
});
