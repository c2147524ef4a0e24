/** Which adapter a config's text names, and what is taken for a task and a state. */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterIn, isTask, stateIn, taskChoices } from '../../../extension/commands/episode-words.ts';

describe('the adapter of a config', () => {
  it.each([
    ['harness:\n  adapter: tabletop-skills\n', 'tabletop-skills'],
    ['harness: { adapter: "tabletop-code", suites: [a] }', 'tabletop-code'],
    ['harness: {adapter: rpent, suites: [a]}', 'rpent'],
    ["harness:\n  adapter: './my arm/arm.adapter.ts' # ours\n", resolve('/work space/my arm/arm.adapter.ts')],
    ['harness:\n  adapter: ../arm.adapter.mjs # ours\n', resolve('/arm.adapter.mjs')],
    [
      '{ "harness": { "adapter": "./quick.adapter.mjs", "suites": ["quick"] } }',
      resolve('/work space/quick.adapter.mjs'),
    ],
  ])('in %j', (text, adapter) => {
    expect(adapterIn(text, '/work space')).toBe(adapter);
  });

  it('is not found where none is named', () => {
    expect(adapterIn('harness:\n  suites: [adapters]\n# no-adapter: here\n', '/work')).toBeUndefined();
  });
});

it('tasks are suite/index, states whole numbers', () => {
  expect(['tabletop_spatial/3', ' a/b/0 '].map(isTask)).toEqual([true, true]);
  expect(['tabletop_spatial', '/3', 'a/x', ''].map(isTask)).toEqual([false, false, false, false]);
  expect(['0', ' 17 '].map(stateIn)).toEqual([0, 17]);
  expect(['', '-1', '1.5', '1e3', '99999999999'].map(stateIn)).toEqual(Array(5).fill(undefined));
});

it('every task of an adapter is offered with its instruction', () => {
  expect(taskChoices({ a: ['first', 'second'], b: ['third'] })).toEqual([
    { task: 'a/0', instruction: 'first' },
    { task: 'a/1', instruction: 'second' },
    { task: 'b/0', instruction: 'third' },
  ]);
});
