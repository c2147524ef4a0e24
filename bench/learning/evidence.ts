/**
 * What a learning run found, small enough to be committed: outcomes of single episodes rather than rates, so that anyone can
 * pair and count them again, and seeds that were trained on several machines make one page.
 */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { configSchema, type TrainingConfig } from '../../protocol/config.ts';
import { succeeded } from '../../protocol/outcome.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import { isDamaged, openRecording, type Recording } from '../../recordings/index.ts';
import { finalTries } from '../../trainer-daemon/evaluation/outcomes.ts';

/** Successes among valid episodes. */
export interface Count {
  successes: number;
  episodes: number;
}

/** Of every task, what became of its episodes in the order of state and attempt: `1` solved, `0` not, `-` invalid. */
export type Outcomes = Record<string, string>;

export interface Evidence {
  /** What was run, `main-0` for one. */
  name: string;
  createdAt: string;
  /** What the page must say of how this run came about; written by hand. */
  remark?: string;
  /** Time at work, pauses left out. */
  hours: number;
  machine: string;
  config: Pick<TrainingConfig, 'seed' | 'planner' | 'harness' | 'splits' | 'teacher' | 'sft' | 'rl' | 'evaluation'>;
  /** Validation of the checkpoints of fine-tuning, evenly spread over its epochs. */
  checkpoints: Count[];
  /** Rounds from 1; validation where there was one. */
  rounds: { collected: Count; validation?: Count; chosen: boolean }[];
  /** By planner: base, sft, rl, or teacher. */
  outcomes: Record<string, Outcomes>;
}

/** What of `report --json` is needed here. */
interface Report {
  name: string;
  createdAt: string;
  seconds: number;
  chosen: number[];
  policies: { version: number; stage: 'base' | 'sft' | 'rl'; round: number; validation: Count | null }[];
  rounds: { episodes: number; invalid: number; successes: number }[];
}

/**
 * @param report The run's `report --json`.
 * @throws Error when a record that counts is damaged.
 */
export async function gatherEvidence(directory: string, report: Report): Promise<Evidence> {
  const recording = await openRecording(directory);
  try {
    const { seed, planner, harness, splits, teacher, sft, rl, evaluation } = configSchema.parse(recording.info.config);
    const evaluated = new Map<string, string>();
    for (const { stage, version } of report.policies)
      if (stage === 'base' || report.chosen.includes(version)) evaluated.set(stage, section(version));
    const { evaluations } = await recording.sections();
    const outcomes: Evidence['outcomes'] = {};
    for (const [stage, id] of evaluated) {
      const episodes = await episodesOf(recording, `evaluations/${id}`);
      if (episodes.length > 0) outcomes[stage] = outcomesOf(episodes);
    }
    // A run of the teacher alone is there for the teacher's own rate.
    if (evaluations.length === 0) outcomes.teacher = outcomesOf(await episodesOf(recording, 'teacher'));
    return {
      name: report.name,
      createdAt: report.createdAt,
      hours: report.seconds / 3600,
      machine: `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`,
      // Where its checkpoint lies is this machine's business.
      config: { seed, planner: withoutPlace(planner), harness, splits, teacher, sft, rl, evaluation },
      checkpoints: await checkpoints(recording),
      rounds: report.rounds.map(({ episodes, invalid, successes }, i) => {
        const policy = report.policies.find(({ stage, round }) => stage === 'rl' && round === i + 1);
        return {
          collected: { successes, episodes: episodes - invalid },
          ...(policy?.validation && { validation: count(policy.validation) }),
          chosen: policy !== undefined && report.chosen.at(-1) === policy.version,
        };
      }),
      outcomes,
    };
  } finally {
    await recording.close();
  }
}

const section = (version: number) => `evaluation-v${String(version).padStart(4, '0')}`;
const count = ({ successes, episodes }: Count): Count => ({ successes, episodes });

function withoutPlace(planner: TrainingConfig['planner']): TrainingConfig['planner'] {
  const { checkpoint, ...rest } = planner as TrainingConfig['planner'] & { checkpoint?: string };
  return checkpoint === undefined ? planner : ({ ...rest, checkpoint: 'fine-tuned' } as TrainingConfig['planner']);
}

async function episodesOf(recording: Recording, name: string): Promise<EpisodeRecord[]> {
  const episodes: EpisodeRecord[] = [];
  for await (const episode of await recording.episodes(name)) {
    if (isDamaged(episode))
      throw new Error(`${join(name, 'episodes.jsonl')}, line ${episode.line}: ${episode.damaged}`);
    episodes.push(episode);
  }
  return episodes;
}

function outcomesOf(episodes: readonly EpisodeRecord[]): Outcomes {
  const outcomes: Outcomes = {};
  // In order of suite, task, state and attempt.
  for (const episode of finalTries(episodes).values()) {
    const mark = episode.valid ? (succeeded(episode) ? '1' : '0') : '-';
    outcomes[episode.task] = (outcomes[episode.task] ?? '') + mark;
  }
  return outcomes;
}

async function checkpoints(recording: Recording): Promise<Count[]> {
  const found: Count[] = [];
  for (let k = 1; ; k++) {
    const summary = await recording.evaluation(`validation-v0001-k${String(k).padStart(2, '0')}`);
    if (summary === undefined) return found;
    if (isDamaged(summary)) throw new Error(`checkpoint ${k}: ${summary.damaged}`);
    const { successes, episodes, invalid } = summary.total;
    found.push({ successes, episodes: episodes - invalid });
  }
}
