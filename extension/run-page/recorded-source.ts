/**
 * Feeds the model of a run page from the files of a run: for workspaces that are not trusted, where no daemon is started
 * and nothing is run. It shows the run as it is when it is opened.
 */
import type { RunSummary } from '../../protocol/daemon.ts';
import type { PolicyRecord } from '../../protocol/records.ts';
import { applyJournal, emptyRunState, type RunState } from '../../protocol/run-state.ts';
import { isDamaged, openRecording } from '../../recordings/index.ts';
import type { PageData } from './data.ts';
import { JOURNAL, RunPageModel, rateOf } from './model.ts';

export interface RecordedOptions {
  /** As the daemon would name it, `runs/...`. */
  run: string;
  /** Why nothing new comes and what is not shown, in words for the reader. */
  words: string;
  now?: () => number;
}

/** @throws RecordingError when the folder holds no run. */
export async function recordedModel(directory: string, { run, words, now = Date.now }: RecordedOptions) {
  const recording = await openRecording(directory);
  try {
    const { name, createdAt } = recording.info;
    const summary: RunSummary = {
      ...{ run, directory, name, createdAt, state: 'interrupted', writer: null, stopping: 'none' },
      ...{ stage: null, seq: 0, progress: null, problem: null, unread: null },
    };
    const model = new RunPageModel(summary, now());
    const state = emptyRunState();
    for await (const line of await recording.journal()) {
      if (isDamaged(line)) {
        // The torn last line of a run that was killed is no damage.
        if (!line.torn) model.takeUnread(JOURNAL, `journal.jsonl, line ${line.line}: ${line.damaged}`);
        break;
      }
      applyJournal(state, line);
      model.takeEntry(line, state);
    }
    model.takeSummary({ ...summary, state: ended(state.phase), stage: state.stage, seq: state.seq });
    model.takeReport({ rounds: [], evaluations: evaluationsOf(state) });
    model.takeConnection(words);
    return model;
  } finally {
    await recording.close();
  }
}

/** Whether a process still writes to it is not looked at. */
function ended(phase: RunState['phase']): RunSummary['state'] {
  return phase === 'open' || phase === 'empty' ? 'interrupted' : phase;
}

/** Rates alone: tests on pairs of episodes are the daemon's. */
function evaluationsOf({ evaluations, policies }: RunState): PageData['evaluations'] {
  const held = evaluations.filter(({ kind }) => kind === 'evaluation');
  if (held.length === 0) return null;
  const rate = ({ episodes, successes, invalid }: (typeof held)[number]['total']) =>
    rateOf(successes, episodes - invalid);
  const planners = held
    .toSorted((a, b) => a.policyVersion - b.policyVersion)
    .map(({ policyVersion, total, suites }) => ({
      label: labelOf(policyVersion, policies),
      overall: rate(total),
      suites: Object.fromEntries(Object.entries(suites).map(([suite, tally]) => [suite, rate(tally)])),
      invalid: total.invalid,
    }));
  return { planners, comparisons: [] };
}

/** As reports name them. */
function labelOf(version: number, policies: readonly PolicyRecord[]): string {
  const policy = policies.find((one) => one.version === version);
  if (!policy) return `v${version}`;
  if (policy.stage === 'base') return 'base';
  return policy.stage === 'sft' ? 'SFT' : `RL round ${policy.round}`;
}
