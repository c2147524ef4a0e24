/**
 * Ids of records. They derive from what a record is (run, role, round, task, init, attempt, try, turn), never from a
 * clock or a random source, so that a resumed run writes the same ids as an undisturbed one.
 */
import { sha256 } from './random.ts';

export interface EpisodeKey {
  /** {@link runId} */
  run: string;
  role: 'teacher' | 'rollout' | 'validation' | 'evaluation';
  /** RL round (1-based); 0 outside RL. For validation and evaluation: the policy version evaluated. */
  round: number;
  task: string;
  init: number;
  attempt: number;
  /** 0 for the first try; a try that was lost to infrastructure may be repeated under the next number. */
  tryNumber: number;
  /** Validation of a checkpoint that may become policy `round`: its number. */
  candidate?: number;
}

const ROLE_LETTER = { teacher: 't', rollout: 'r', validation: 'v', evaluation: 'e' } as const;

/** Eight hexadecimal digits that name a run: from its config's name, its seed and the resolved config. */
export function runId(name: string, seed: number, resolvedConfig: unknown): string {
  return sha256(JSON.stringify([name, seed, resolvedConfig])).slice(0, 8);
}

/** For example `1f0c2ab9.r3.tabletop_goal_swap-4.i17.a2.0`; letters, digits, ".", "_" and "-" only. */
export function episodeId(key: EpisodeKey): string {
  const task = key.task.replaceAll('/', '-');
  const safe = /^[A-Za-z0-9_-]+$/.test(task)
    ? task
    : `${task.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}_${sha256(key.task).slice(0, 8)}`;
  return `${key.run}.${ROLE_LETTER[key.role]}${key.round}${key.candidate === undefined ? '' : `k${key.candidate}`}.${safe}.i${key.init}.a${key.attempt}.${key.tryNumber}`;
}

/** Id of the call with this turn in its episode; `resend` counts further upstream attempts of the same turn. */
export function callId(episode: string, turn: number, resend = 0): string {
  return `${episode}.c${turn}${resend > 0 ? `r${resend}` : ''}`;
}

/** Folder of a round's records in the run directory, for example `rounds/0003`. */
export function roundSection(round: number): string {
  return `rounds/${String(round).padStart(4, '0')}`;
}

/** Folder of a policy version in the run directory, for example `policies/v0002`. */
export function policySection(version: number): string {
  return `policies/v${String(version).padStart(4, '0')}`;
}

/** `suite/index`, the form of `task` in every record. */
export function taskId(suite: string, index: number): string {
  return `${suite}/${index}`;
}

/** Splits a {@link taskId}. */
export function parseTaskId(task: string): { suite: string; index: number } {
  const slash = task.lastIndexOf('/');
  return { suite: task.slice(0, slash), index: Number(task.slice(slash + 1)) };
}
