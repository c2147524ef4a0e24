/** What the daemon and the child process that runs an adapter say to each other (one JSON message each way a call). */
import type { EpisodeOutput, EpisodeRequest, LaunchContext } from '../../protocol/adapter.ts';

/** An episode's remains without the reading functions; the child adds those. */
export type OutcomeInput = Omit<EpisodeOutput, 'readText' | 'readJson' | 'list'> & { outputDir: string };

export type AdapterCall =
  /** `compiler` is null for a built adapter, which is imported as it is. */
  | { method: 'load'; file: string; workspace: string; compiler: string | null; adapterModule: string }
  | { method: 'tasks' }
  | { method: 'states' }
  | { method: 'launch'; request: EpisodeRequest; context: LaunchContext }
  | { method: 'outcome'; input: OutcomeInput }
  | { method: 'scriptedTeacher'; context: LaunchContext };

export interface AdapterDescription {
  name: string;
  onUpstreamFailure: 'pass' | 'fail-fast';
  hasScriptedTeacher: boolean;
}

export type AdapterAnswer = { ok: true; value: unknown } | { ok: false; problem: string };
