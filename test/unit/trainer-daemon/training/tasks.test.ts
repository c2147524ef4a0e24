import { describe, expect, it } from 'vitest';
import { configSchema, type WrittenConfig } from '../../../../protocol/config.ts';
import { selectTasks } from '../../../../trainer-daemon/training/tasks.ts';

const list = { alpha_suite: ['a', 'b', 'c'], beta_suite: ['d'] };
const select = (harness: Partial<WrittenConfig['harness']>) =>
  selectTasks(
    configSchema.parse({ version: 1, name: 'x', harness: { adapter: 'given', suites: ['alpha_suite'], ...harness } }),
    { adapter: 'given', tasks: list },
  );

describe('selectTasks', () => {
  it('takes every task of the suites named, in their order', () => {
    expect(select({ suites: ['beta_suite', 'alpha_suite'] })).toEqual([
      'beta_suite/0',
      'alpha_suite/0',
      'alpha_suite/1',
      'alpha_suite/2',
    ]);
  });

  it('takes the tasks named', () => {
    expect(select({ tasks: { alpha_suite: '1-2' } })).toEqual(['alpha_suite/1', 'alpha_suite/2']);
  });

  it('names a suite that does not exist, and the nearest that does', () => {
    expect(() => select({ suites: ['alpha_siute'] })).toThrow(/no suite "alpha_siute".*did you mean "alpha_suite"/);
  });

  it('names a task that does not exist', () => {
    expect(() => select({ tasks: { alpha_suite: [0, 3] } })).toThrow(
      'there is no task 3 in "alpha_suite": it has 3 tasks (0-2)',
    );
  });

  it('refuses an empty choice', () => {
    expect(() => select({ tasks: { alpha_suite: [] } })).toThrow('leave no task');
  });

  it('does not take inherited names for suites', () => {
    expect(() => select({ suites: ['constructor'] })).toThrow('no suite "constructor"');
  });
});
