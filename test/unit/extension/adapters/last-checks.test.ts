/** The last checks of adapters, over windows. */
import { expect, it } from 'vitest';
import { LastChecks, type Memory } from '../../../../extension/adapters/last-checks.ts';
import type { AdapterCheck } from '../../../../protocol/daemon.ts';

function memory(start?: unknown): Memory & { value: unknown } {
  return {
    value: start,
    get() {
      return this.value;
    },
    async update(_, value) {
      this.value = JSON.parse(JSON.stringify(value));
    },
  };
}
const check = (name: string): AdapterCheck => ({
  ok: false,
  adapter: { name, file: `/w/${name}.adapter.ts`, sha256: 'ab', hasScriptedTeacher: false, tasks: {}, states: null },
  outputs: [
    {
      ...{ directory: '/w/out/1', known: false, warnings: [], remark: null, problem: null },
      outcome: { task: 'a/0', init: 3, attempt: 1, reward: 0.5, valid: true, successTurn: 2 },
    },
    { directory: '/w/out/2', known: false, warnings: [], remark: null, problem: 'no reward', outcome: null },
  ],
});
const at = new Date('2026-01-02T03:04:05.000Z');

it('keep the five fields, tell of news, and come back in the next window', () => {
  const kept = memory();
  const checks = new LastChecks(kept, 'k', () => {});
  const told: string[] = [];
  checks.onChange((adapter) => told.push(adapter));
  checks.checked('file:///w/arm', check('arm'), at);
  expect(told).toEqual(['file:///w/arm']);
  const again = new LastChecks(kept, 'k', () => {}).of('file:///w/arm');
  expect(again).toEqual({
    ...{ at: at.toISOString(), name: 'arm', failure: null },
    outputs: [
      { directory: '/w/out/1', fields: { task: 'a/0', init: 3, attempt: 1, reward: 0.5, valid: true }, problem: null },
      { directory: '/w/out/2', fields: null, problem: 'no reward' },
    ],
  });
});

it('a check that fails leaves the outputs of the one before', () => {
  const checks = new LastChecks(memory(), 'k', () => {});
  checks.checked('file:///w/arm', check('arm'), at);
  checks.failed('file:///w/arm', 'line 3: no such variable', at);
  expect(checks.of('file:///w/arm')).toMatchObject({ failure: 'line 3: no such variable', outputs: [{}, {}] });
  checks.failed('file:///w/new', 'no default export', at);
  expect(checks.of('file:///w/new')).toMatchObject({ failure: 'no default export', name: '', outputs: [] });
  checks.checked('file:///w/arm', check('arm'), at);
  expect(checks.of('file:///w/arm')?.failure).toBeNull();
});

it('what another version wrote is forgotten, and of very many the oldest go', () => {
  expect(new LastChecks(memory({ a: { shape: 'other' } }), 'k', () => {}).of('a')).toBeUndefined();
  const checks = new LastChecks(memory('no record at all'), 'k', () => {});
  for (let n = 0; n < 60; n++) checks.checked(`file:///w/${n}`, check('arm'), at);
  expect(checks.of('file:///w/9')).toBeUndefined();
  expect(checks.of('file:///w/10')).toBeDefined();
});
