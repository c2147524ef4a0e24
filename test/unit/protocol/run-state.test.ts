import { describe, expect, it } from 'vitest';
import type { JournalEvent, JournalLine } from '../../../protocol/journal.ts';
import { applyJournal, emptyRunState, type RunState, runStateSchema } from '../../../protocol/run-state.ts';

const at = (seq: number) => `2026-01-01T00:00:${String(seq % 60).padStart(2, '0')}.000Z`;
const lines = (events: JournalEvent[], from = 1): JournalLine[] =>
  events.map((event, i) => ({ seq: from + i, at: at(from + i), event }));
function fold(all: JournalLine[], state = emptyRunState()): RunState {
  for (const line of all) applyJournal(state, line);
  return state;
}
const episode = (section: string, reward: number, valid = true, turns = 3): JournalEvent => ({
  type: 'episode-finished',
  section,
  episode: `e${Math.round(reward * 10)}`,
  task: 'quick/0',
  init: 1,
  attempt: 0,
  reward,
  valid,
  invalidReason: valid ? null : 'the harness crashed',
  turns,
});
const step = (number: number): JournalEvent => ({
  type: 'step',
  record: {
    step: number,
    stage: 'rl',
    round: 1,
    learningRate: 1e-3,
    loss: 1 / number,
    gradNorm: 1,
    items: 4,
    tokens: 9,
    seconds: 1,
  },
});

const run: JournalEvent[] = [
  { type: 'run-started', run: '12345678', stages: ['teacher', 'rl'] },
  { type: 'stage-started', stage: 'teacher' },
  episode('teacher', 1),
  episode('teacher', 0.5),
  episode('teacher', 0, false),
  { type: 'stage-finished', stage: 'teacher', seconds: 4 },
  { type: 'stage-started', stage: 'rl' },
  { type: 'round-planned', round: 1, policyVersion: 1, groups: 2, attempts: 3 },
  { type: 'round-collected', round: 1, episodes: 6, invalid: 0 },
  { type: 'samples-built', round: 1, selected: 5, byStatus: { selected: 5, 'zero-weight:equal-rewards': 2 } },
  step(1),
  step(2),
  { type: 'run-stopped', reason: 'episode' },
  { type: 'run-resumed', afterSeq: 13 },
  step(1),
  { type: 'round-finished', round: 1, policyVersion: 2 },
  { type: 'stage-finished', stage: 'rl', seconds: 9 },
  { type: 'run-finished', seconds: 20 },
];

describe('the state of a run', () => {
  it('counts episodes by section: partial reward is no success, an invalid episode has no reward', () => {
    const state = fold(lines(run));
    expect(state.sections).toEqual([
      { section: 'teacher', episodes: 3, successes: 1, invalid: 1, calls: 9, rewards: 1.5 },
    ]);
  });

  it('knows how far stages and rounds are, and how the run ended', () => {
    const state = fold(lines(run));
    expect(state.phase).toBe('finished');
    expect(state.stages.map(({ stage, state: how, seconds }) => [stage, how, seconds])).toEqual([
      ['teacher', 'done', 4],
      ['rl', 'done', 9],
    ]);
    expect(state.rounds).toMatchObject([
      { round: 1, state: 'finished', selected: 5, samplesByStatus: { selected: 5 }, result: 2 },
    ]);
    expect(runStateSchema.parse(state)).toEqual(state);
  });

  it('follows an update that is taken again from its start', () => {
    const state = fold(lines(run));
    expect(state.steps.rl).toMatchObject({ done: 1, last: { step: 1, loss: 1 } });
  });

  it('is the same from any split: a snapshot sent over a wire, then the entries after it', () => {
    const whole = fold(lines(run));
    for (let cut = 0; cut <= run.length; cut++) {
      const snapshot = JSON.parse(JSON.stringify(fold(lines(run.slice(0, cut))))) as RunState;
      // Entries that went in before come again after a reconnect.
      expect(fold(lines(run), snapshot)).toEqual(whole);
    }
  });

  it('tells a failure until the run goes on, and keeps the newest hundred warnings', () => {
    const events: JournalEvent[] = [
      run[0],
      ...Array.from({ length: 130 }, (_, i): JournalEvent => ({ type: 'warning', message: `warning ${i}` })),
      { type: 'run-failed', message: 'no space left' },
    ];
    const state = fold(lines(events));
    expect(state).toMatchObject({ phase: 'failed', failure: 'no space left', warningCount: 130 });
    expect([state.warnings.length, state.warnings[0]]).toEqual([100, 'warning 30']);
    applyJournal(state, { seq: 133, at: at(0), event: { type: 'run-resumed', afterSeq: 132 } });
    expect(state).toMatchObject({ phase: 'open', failure: null });
  });
});
