/** A run's journal by hand, and the model of its page. */
import { RunPageModel } from '../../../../extension/run-page/model.ts';
import type { RunSummary } from '../../../../protocol/daemon.ts';
import type { JournalEvent, JournalLine } from '../../../../protocol/journal.ts';
import { applyJournal, emptyRunState, type RunState } from '../../../../protocol/run-state.ts';

export const summary: RunSummary = {
  run: 'runs/hand',
  directory: '/somewhere/runs/hand',
  name: 'hand',
  createdAt: '2026-01-01T00:00:00.000Z',
  state: 'running',
  writer: 'daemon',
  stopping: 'none',
  stage: null,
  seq: 0,
  progress: null,
  problem: null,
  unread: null,
};

/** When the journal begins; entry n comes n seconds later. Milliseconds since 1970. */
export const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');

/** Entry n of a journal. */
export function line(seq: number, event: JournalEvent, seconds = seq): JournalLine {
  return { seq, at: new Date(BEGIN + 1000 * seconds).toISOString(), event };
}

/** A model that is told a journal entry by entry, as by the daemon. */
export function told(events: JournalEvent[], more: { openedAt?: number; summary?: RunSummary } = {}) {
  const model = new RunPageModel(more.summary ?? summary, more.openedAt ?? BEGIN);
  const state: RunState = emptyRunState();
  let seq = 0;
  const tell = (event: JournalEvent, seconds?: number) => {
    const entry = line(++seq, event, seconds);
    applyJournal(state, entry);
    model.takeEntry(entry, state);
  };
  for (const event of events) tell(event);
  return { model, state, tell };
}

/** Episodes of a section by what they earned; null for an invalid one. */
export function episodes(section: string, rewards: (number | null)[]): JournalEvent[] {
  return rewards.map((reward, at) => ({
    type: 'episode-finished',
    section,
    episode: `e${at}`,
    task: 'suite/0',
    init: at,
    attempt: 0,
    reward: reward ?? 0,
    valid: reward !== null,
    invalidReason: reward === null ? 'harness gone' : null,
    turns: 3,
  }));
}

export function step(
  number: number,
  more: Partial<Extract<JournalEvent, { type: 'step' }>['record']> = {},
): JournalEvent {
  return {
    type: 'step',
    record: {
      ...{ step: number, stage: 'rl', round: 1, learningRate: 1e-4, loss: number / 10, gradNorm: 1 },
      ...{ items: 4, tokens: 40, seconds: 1 },
      ...more,
    },
  };
}
