import { describe, expect, it } from 'vitest';
import { runPresenter } from '../../../cli/output/run-progress.ts';
import { type JournalEvent, journalLineSchema, type RunEvent } from '../../../protocol/journal.ts';
import { memoryTerminal } from './memory-terminal.ts';

let seq = 0;
function journal(event: JournalEvent, past?: true): RunEvent {
  return { kind: 'journal', line: journalLineSchema.parse({ seq: ++seq, at: '2026-01-02T03:04:05Z', event }), past };
}
function tick(label: string, done: number, total: number, unit = 'episodes'): RunEvent {
  return { kind: 'progress', tick: { stage: 'rl', unit, label, done, total } };
}
const episode = (reward: number, valid = true): JournalEvent => ({
  type: 'episode-finished',
  section: 'rounds/0001',
  episode: 'e1',
  task: 's/0',
  init: 11,
  attempt: 0,
  reward,
  valid,
  invalidReason: valid ? null : 'crash',
  turns: 3,
});
/** Without the time of day. */
const untimed = (lines: string[]) => lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''));

describe('plain lines', () => {
  it('come at the start, at each quarter, at the end, and at most every 15 seconds between', () => {
    const terminal = memoryTerminal();
    let now = 0;
    const presenter = runPresenter(terminal, { now: () => now });
    for (let done = 0; done <= 100; done++) {
      now = done * 1000;
      presenter.show(tick('round 1 of 2: episodes', done, 100));
    }
    const told = untimed(terminal.errors);
    expect(told[0]).toBe('round 1 of 2: episodes 0/100 episodes');
    expect(told[1]).toBe('round 1 of 2: episodes 15/100 episodes, 1 min 25 s left');
    expect(told.at(-1)).toBe('round 1 of 2: episodes 100/100 episodes');
    expect(told.length).toBe(8);
  });

  it('tell the share of solved episodes beside the count', () => {
    const terminal = memoryTerminal();
    const presenter = runPresenter(terminal, { now: () => 0 });
    presenter.show(tick('episodes', 0, 4));
    for (const [i, reward] of [1, 0, 0, 0].entries()) {
      presenter.show(journal(episode(reward)));
      presenter.show(tick('episodes', i + 1, 4));
    }
    expect(terminal.errors.at(-1)).toContain('episodes 4/4 episodes, solved 25.0%');
    presenter.show(tick('next', 0, 4));
    expect(terminal.errors.at(-1)).not.toContain('solved');
  });

  it('count one of a thing in the singular', () => {
    const terminal = memoryTerminal();
    const presenter = runPresenter(terminal, {});
    presenter.show(journal({ type: 'round-planned', round: 1, groups: 1, attempts: 2, policyVersion: 0 }));
    presenter.show(journal({ type: 'round-collected', round: 1, episodes: 1, invalid: 0 }));
    expect(untimed(terminal.errors)).toEqual([
      'round 1: 1 group of 2 attempts under policy v0',
      'round 1: 1 episode collected',
    ]);
  });

  it('tell the journal in sentences, invalid episodes with their reason', () => {
    const terminal = memoryTerminal();
    const presenter = runPresenter(terminal, {});
    presenter.show(journal({ type: 'run-started', run: '0011aabb', stages: ['teacher', 'rl'] }));
    presenter.show(journal({ type: 'stage-started', stage: 'rl' }));
    presenter.show(journal(episode(0, false)));
    presenter.show(journal({ type: 'round-collected', round: 1, episodes: 384, invalid: 2 }));
    presenter.show(journal({ type: 'run-failed', message: 'the disk is full' }));
    expect(untimed(terminal.errors)).toEqual([
      'run 0011aabb: teacher, reinforcement learning',
      'reinforcement learning begins',
      'invalid episode e1: crash',
      'round 1: 384 episodes collected, 2 invalid',
      // Why it failed is the command's own error, told once.
    ]);
  });

  it('do not repeat the past of a resumed run', () => {
    const terminal = memoryTerminal();
    const presenter = runPresenter(terminal, {});
    presenter.show(journal({ type: 'run-started', run: '0011aabb', stages: ['rl'] }, true));
    presenter.show(journal({ type: 'round-finished', round: 1, policyVersion: 2 }, true));
    presenter.show(journal({ type: 'run-resumed', afterSeq: 2 }, true));
    presenter.show(journal({ type: 'run-stopped', reason: 'now' }, true));
    presenter.show(journal({ type: 'run-resumed', afterSeq: 4 }));
    presenter.show(journal({ type: 'round-finished', round: 2, policyVersion: 3 }));
    expect(untimed(terminal.errors)).toEqual(['resumed after entry 4 of the journal', 'round 2 done: policy v3']);
  });
});

describe('JSON Lines', () => {
  it('hold every journal line and a thinned stream of ticks', () => {
    const terminal = memoryTerminal();
    let now = 0;
    const presenter = runPresenter(terminal, { json: true, now: () => now });
    presenter.show(journal({ type: 'stage-started', stage: 'sft' }));
    for (let done = 0; done <= 1000; done++) {
      now = done * 10;
      presenter.show(tick('steps', done, 1000, 'steps'));
    }
    const events = terminal.output.map((line) => JSON.parse(line) as RunEvent);
    expect(events[0]).toMatchObject({ kind: 'journal', line: { event: { type: 'stage-started' } } });
    expect(events.length).toBe(12);
    expect(events.at(-1)).toMatchObject({ kind: 'progress', tick: { done: 1000 } });
    expect(terminal.errors).toEqual([]);
  });
});
