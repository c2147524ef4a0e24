/** What a run's page shows of its journal. */
import { describe, expect, it } from 'vitest';
import { plotTable } from '../../../../extension/run-page/plots.ts';
import type { JournalEvent } from '../../../../protocol/journal.ts';
import { emptyRunState } from '../../../../protocol/run-state.ts';
import { BEGIN, episodes, step, summary, told } from './entries.ts';

const planned = (round: number): JournalEvent => ({
  type: 'round-planned',
  round,
  policyVersion: round,
  groups: 2,
  attempts: 4,
});
const policy = (round: number, successes: number, episodes: number): JournalEvent => ({
  type: 'policy-created',
  policy: {
    ...{ version: round + 1, parent: round, stage: round === 0 ? 'sft' : 'rl', round, step: 1 },
    validation: { episodes, successes, rate: successes / episodes },
  },
});

describe('rounds', () => {
  it('show success with its Wilson interval, reward and invalid episodes', () => {
    const { model } = told([
      planned(1),
      ...episodes('rounds/0001', [1, 0, 0, 1, 1, 0, 0, 0, 0, 0, null, null]),
      { type: 'samples-built', round: 1, selected: 7, byStatus: { selected: 7, 'zero-weight:equal-rewards': 5 } },
    ]);
    const [round] = model.data(BEGIN).rounds;
    // Wilson's interval of 3 of 10: (3 + z^2/2 -+ z sqrt(2.1 + z^2/4)) / (10 + z^2), z = 1.959964.
    expect(round.rollouts).toMatchObject({ episodes: 10, successes: 3, rate: 0.3 });
    expect(round.rollouts?.low).toBeCloseTo(0.107789, 5);
    expect(round.rollouts?.high).toBeCloseTo(0.603222, 5);
    expect(round).toMatchObject({ round: 1, state: 'updating', invalid: 2, meanReward: 0.3, validation: null });
    expect(round.samples).toEqual({ selected: 7, 'zero-weight:equal-rewards': 5 });
    expect(plotTable(model.data(BEGIN), 'invalid').rows).toEqual([[1, 2 / 12, 2, 12]]);
  });

  it('have the fine-tuned policy before the first, and each the validation of what it made', () => {
    const { model } = told([
      policy(0, 2, 8),
      planned(1),
      ...episodes('rounds/0001', [0, 1]),
      policy(1, 4, 8),
      planned(2),
    ]);
    const { rows, columns } = plotTable(model.data(BEGIN), 'success');
    const [validation, rollouts] = ['validation', 'rollouts'].map((name) =>
      columns.findIndex((one) => one.name === name),
    );
    // Round 2 has no episode yet and so no row.
    expect(rows.map((row) => [row[0], row[rollouts], row[validation]])).toEqual([
      [0, null, 0.25],
      [1, 0.5, 0.5],
    ]);
  });

  it('of which every episode was invalid have no rate and no reward', () => {
    const { model } = told([planned(1), ...episodes('rounds/0001', [null, null])]);
    expect(model.data(BEGIN).rounds[0]).toMatchObject({ meanReward: null, rollouts: { rate: null, episodes: 0 } });
    expect(plotTable(model.data(BEGIN), 'success').rows).toEqual([]);
    expect(plotTable(model.data(BEGIN), 'invalid').rows).toEqual([[1, 1, 2, 2]]);
  });
});

describe('steps', () => {
  it('that are taken again stand in the place of those that were cut short', () => {
    const { model } = told([step(1), step(2), step(3), step(2, { loss: 9 })]);
    expect(model.data(BEGIN).steps.map(({ step, loss }) => [step, loss])).toEqual([
      [1, 0.1],
      [2, 9],
    ]);
  });

  it('read from files join those that the journal told meanwhile', () => {
    const { model } = told([step(4), step(5)]);
    const record = (number: number) => (step(number) as Extract<JournalEvent, { type: 'step' }>).record;
    model.takeSteps([2, 1, 3, 4].map(record));
    expect(model.data(BEGIN).steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
  });

  it('give the curves of clipping, weights, divergence and lengths', () => {
    const { model } = told([
      step(1, {
        clipFractions: { low: 0.1, high: 0.2, dual: 0 },
        importance: { mean: 1.02, cappedShare: 0.03 },
        approximateKl: 0.004,
        responseLength: { mean: 12.5, max: 30 },
      }),
      step(2),
    ]);
    const data = model.data(BEGIN);
    expect(plotTable(data, 'clipping').rows).toEqual([[1, 0.1, 0.2, 0]]);
    expect(plotTable(data, 'importance').rows).toEqual([[1, 1.02, 0.03]]);
    expect(plotTable(data, 'kl').rows).toEqual([[1, 0.004]]);
    expect(plotTable(data, 'lengths').rows).toEqual([[1, 12.5, 30]]);
    expect(plotTable(data, 'rlLoss').rows).toHaveLength(2);
    expect(plotTable(data, 'sftLoss').rows).toEqual([]);
  });
});

describe('stages', () => {
  const started: JournalEvent = { type: 'run-started', run: '01234567', stages: ['teacher', 'sft', 'rl'] };

  it('tell how far the teacher is and how long it will take', () => {
    const { model } = told([started, { type: 'stage-started', stage: 'teacher' }]);
    const tick = (done: number, seconds: number) =>
      model.takeTick(
        { stage: 'teacher', unit: 'episodes', label: 'teacher episodes', done, total: 20 },
        BEGIN + 1000 * seconds,
      );
    tick(2, 10);
    expect(model.data(BEGIN + 10_000).work).toMatchObject({ done: 2, total: 20, secondsLeft: null });
    tick(7, 20);
    // Five in ten seconds, thirteen to come, of which four seconds have passed.
    expect(model.data(BEGIN + 24_000).work?.secondsLeft).toBe(22);
    expect(model.data(BEGIN + 24_000).stages).toMatchObject([
      { stage: 'teacher', state: 'begun', share: 7 / 20, secondsLeft: 22 },
      { stage: 'sft', state: 'waiting', share: 0 },
      { stage: 'rl', state: 'waiting', share: 0 },
    ]);
    model.takeSummary({ ...summary, state: 'stopped' });
    expect(model.data(BEGIN + 24_000)).toMatchObject({ work: null, stages: [{ secondsLeft: null }, {}, {}] });
  });

  it('estimate rounds from those that are done, and not from the time that a run lay still', () => {
    const { model, tell } = told([started]);
    model.takePlan(4);
    tell({ type: 'stage-started', stage: 'rl' }, 10);
    tell(planned(1), 10);
    expect(model.data(BEGIN).stages[2]).toMatchObject({ share: 0, secondsLeft: null });
    tell({ type: 'round-finished', round: 1, policyVersion: 2 }, 110);
    tell(planned(2), 110);
    tell({ type: 'run-stopped', reason: 'now' }, 120);
    tell({ type: 'run-resumed', afterSeq: 6 }, 9000);
    tell({ type: 'stage-started', stage: 'rl' }, 9000);
    tell({ type: 'round-finished', round: 2, policyVersion: 3 }, 9050);
    tell(planned(3), 9050);
    expect(model.data(BEGIN + 9_080_000).stages[2]).toMatchObject({ share: 0.5, secondsLeft: 170 });
  });
});

describe('news', () => {
  it('are what happened after the page was opened, and told once', () => {
    const { model, tell } = told([{ type: 'stage-finished', stage: 'teacher', seconds: 1 }], {
      openedAt: BEGIN + 5000,
    });
    expect(model.takeNews()).toEqual([]);
    tell({ type: 'round-finished', round: 3, policyVersion: 4 }, 6);
    tell({ type: 'policy-served', policyVersion: 4 }, 6);
    expect(model.takeNews()).toEqual([{ kind: 'round-done', values: ['3', '4'] }]);
    expect(model.takeNews()).toEqual([]);
  });
});

describe('a state that a snapshot told', () => {
  it('stays while the entries that it holds are caught up with', () => {
    const { model, state, tell } = told([]);
    model.takeState({ ...emptyRunState(), seq: 2, warnings: ['new'], warningCount: 2 });
    tell({ type: 'warning', message: 'old' });
    expect(state.seq).toBe(1);
    expect(model.data(BEGIN).head).toMatchObject({ warnings: ['new'], warningCount: 2 });
    tell({ type: 'warning', message: 'new' });
    expect(model.data(BEGIN).head.warnings).toEqual(['old', 'new']);
  });
});

describe('problems', () => {
  it('of a journal: what was not done before the damage is not told to be at work, or to be waited for', () => {
    const started: JournalEvent[] = [
      { type: 'run-started', run: '01234567', stages: ['teacher', 'sft', 'rl'] },
      { type: 'stage-started', stage: 'teacher' },
      { type: 'stage-finished', stage: 'teacher', seconds: 3 },
      { type: 'stage-started', stage: 'sft' },
    ];
    const unread = 'journal.jsonl, line 5: is no JSON';
    const finished = { ...summary, state: 'finished' as const, writer: null };
    for (const [listed, heard] of [
      [{ ...finished, unread }, null],
      [finished, unread],
    ] as const) {
      const { model } = told(started, { summary: listed });
      model.takeUnread('journal', heard);
      const { head, stages } = model.data(BEGIN);
      expect(head).toMatchObject({ state: 'finished', unread, problem: null });
      expect(stages.map(({ stage, state, share }) => [stage, state, share])).toEqual([
        ['teacher', 'done', 1],
        ['sft', 'unread', null],
        ['rl', 'unread', null],
      ]);
    }
    // A run at work is where its journal says, as far as that goes.
    const { model } = told(started, { summary: { ...summary, unread } });
    expect(model.data(BEGIN).stages[1].state).toBe('begun');
    expect(told(started, { summary: finished }).model.data(BEGIN).head.unread).toBeNull();
  });

  it('show until the part could be read after all', () => {
    const { model } = told([]);
    model.takeUnread('its evaluations', 'no report');
    expect(model.data(BEGIN).head.problem).toBe('no report');
    model.takeUnread('its evaluations', null);
    expect(model.data(BEGIN).head.problem).toBeNull();
  });

  it('however long fit into a message', () => {
    const { model } = told([{ type: 'run-failed', message: 'x'.repeat(50_000) }]);
    expect(model.data(BEGIN).head.problem?.length).toBeLessThan(20_000);
  });
});
