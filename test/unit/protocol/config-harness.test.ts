import { describe, expect, it } from 'vitest';
import { type HarnessListing, harnessProblems } from '../../../protocol/config-harness.ts';
import { readConfigText } from '../../../protocol/config-text.ts';

const LISTING: HarnessListing = { adapter: 'given', tasks: { alpha_suite: ['a', 'b', 'c'], beta_suite: ['d'] } };

/** Line, column and sentence of every problem, as they would be shown in this text. */
function told(rest: string, listing: HarnessListing = LISTING, suites = '[alpha_suite, beta_suite]'): string[] {
  const reading = readConfigText(
    `version: 1\nname: x\nharness:\n  adapter: given\n  suites: ${suites}\n${rest}`,
    'c.yaml',
  );
  if (!reading.config) throw new Error(`the config has errors: ${JSON.stringify(reading.findings)}`);
  return harnessProblems(reading.config, listing).map(({ path, message }) => {
    const { line, column } = reading.locate(path);
    return `${line}:${column}: ${message}`;
  });
}

describe("a config beside its adapter's list", () => {
  it('is silent about what the adapter lists', () => {
    expect(told('')).toEqual([]);
    expect(told('  tasks: { alpha_suite: 0-2, beta_suite: 0 }\n')).toEqual([]);
  });

  it('names every suite that does not exist, at its place, and the nearest that does', () => {
    expect(told('', LISTING, '[alpha_siute, nothing]')).toEqual([
      '5:12: "harness.suites": the adapter "given" has no suite "alpha_siute"; did you mean "alpha_suite"?',
      '5:25: "harness.suites": the adapter "given" has no suite "nothing"; it lists alpha_suite, beta_suite',
    ]);
  });

  it('names the tasks that do not exist, at their place', () => {
    expect(told('  tasks: { alpha_suite: [0, 3, 5-7], beta_suite: 1 }\n')).toEqual([
      '6:25: "harness.tasks": there are no tasks 3, 5-7 in "alpha_suite": it has 3 tasks (0-2)',
      '6:50: "harness.tasks": there is no task 1 in "beta_suite": it has 1 task (only 0)',
    ]);
  });

  it('takes tasks as they are written where the adapter lists none, and asks for them', () => {
    const none: HarnessListing = { adapter: 'given', tasks: {} };
    expect(told('  tasks: { alpha_suite: 7, beta_suite: 0 }\n', none)).toEqual([]);
    expect(told('', none, '[s]')).toEqual([
      '5:12: "harness.suites": the adapter "given" lists no tasks, so the config must: write under harness "tasks: { s: 0-9 }" with the indices there are',
    ]);
  });
});

describe('states beyond those an adapter tells', () => {
  const listing = { ...LISTING, states: 50 };

  it('are named with the key, the place and the range', () => {
    expect(told('splits:\n  training: 11-44, 50-52, 60\n', listing)).toEqual([
      '7:13: "splits.training": states 50-52, 60 do not exist; the adapter "given" has 50 initial states a task (0-49)',
    ]);
    expect(told('evaluation: { states: 50, selectionStates: 99 }\n', listing).map((line) => line.slice(0, 55))).toEqual(
      [
        '6:23: "evaluation.states": state 50 does not exist; the',
        '6:44: "evaluation.selectionStates": state 99 does not e',
      ],
    );
  });

  it('include defaults, shown at the section', () => {
    expect(told('', { ...LISTING, states: 45 })).toEqual([
      '1:1: "splits.validation": states 45-49 do not exist; the adapter "given" has 45 initial states a task (0-44)',
    ]);
  });

  it('count by suite where an adapter tells them so, and only for the suites of the config', () => {
    const bySuite = { ...LISTING, states: { alpha_suite: 50, beta_suite: 48, gamma_suite: 1 } };
    expect(told('', bySuite)).toEqual([
      '1:1: "splits.validation": states 48-49 do not exist; the adapter "given" has 48 initial states a task in "beta_suite" (0-47)',
    ]);
    expect(told('', bySuite, '[alpha_suite]')).toEqual([]);
  });

  it('are not looked for where the adapter tells no number', () => {
    expect(told('splits: { training: 500-600 }\n')).toEqual([]);
  });
});
