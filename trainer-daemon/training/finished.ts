/** A run of which nothing is left to do: found by reading alone, so that asking again changes no file. */
import type { JournalLine } from '../../protocol/journal.ts';
import { openRecording, type Recording } from '../../recordings/index.ts';
import { finalTries } from '../evaluation/outcomes.ts';
import { evaluationTable } from '../evaluation/tables.ts';
import type { TrainOptions, TrainResult } from './contract.ts';
import { recordedEpisodes } from './episodes.ts';
import { evaluationId } from './evaluate-policy.ts';
import { type Compared, comparedPolicies, eventsOf, namedPolicies, policiesOf, readJournal } from './history.ts';
import { invalidWarnings } from './invalid.ts';
import { damagedPolicies } from './policy-damage.ts';

export interface FinishedRun {
  history: JournalLine[];
  result: TrainResult;
}

/**
 * The result of a run that is finished as far as the options ask; undefined when anything is left to do, or when the
 * run cannot be read so far (going on with it tells why).
 * @throws RecordingError when the folder holds no run.
 */
export async function finishedRun(
  directory: string,
  options: Pick<TrainOptions, 'stages' | 'rounds' | 'policies'>,
): Promise<FinishedRun | undefined> {
  const recording = await openRecording(directory);
  try {
    const journal = await readJournal(recording);
    if ('damaged' in journal || journal.lines.at(-1)?.event.type !== 'run-finished') return undefined;
    const history = journal.lines;
    const done = new Set(eventsOf(history, 'stage-finished').map((event) => event.stage));
    const stages = options.stages ?? eventsOf(history, 'run-started').at(-1)?.stages ?? [];
    if (stages.length === 0 || !stages.every((stage) => done.has(stage))) return undefined;
    const rounds = Math.max(0, ...eventsOf(history, 'round-finished').map((event) => event.round));
    if (stages.includes('rl') && (options.rounds ?? 0) > rounds) return undefined;

    const result: TrainResult = {
      state: 'finished',
      alreadyFinished: true,
      directory: recording.directory,
      warnings: [
        ...invalidWarnings(history),
        ...(await damagedPolicies(recording.directory, history)).map((text) => `damaged: ${text}`),
      ],
    };
    if (stages.includes('evaluate')) {
      const policies = policiesOf(history);
      const wanted = options.policies
        ? namedPolicies(options.policies, policies)
        : { found: comparedPolicies(history, policies), missing: [] };
      const rows = wanted.missing.length === 0 ? await rowsOf(recording, history, wanted.found) : undefined;
      if (!rows) return undefined;
      const table = evaluationTable(rows);
      result.table = table.text;
      result.tableJson = table.json;
    }
    return { history, result };
  } finally {
    await recording.close();
  }
}

/** Episodes of every evaluation; undefined when one of them is not there whole. */
async function rowsOf(recording: Recording, history: JournalLine[], compared: Compared[]) {
  const rows = [];
  for (const { label, version } of compared) {
    const id = evaluationId({ kind: 'evaluation', policyVersion: version });
    const told = eventsOf(history, 'evaluated').findLast((event) => event.summary.id === id);
    if (!told) return undefined;
    const episodes = [...(await recordedEpisodes(recording, `evaluations/${id}`)).values()];
    if (finalTries(episodes).size !== told.summary.total.episodes) return undefined;
    rows.push({ label, episodes });
  }
  return rows;
}
