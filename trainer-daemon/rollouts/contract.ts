/** Running episodes of a harness through its adapter. */
import type { EpisodeRequest, Launch, Outcome, ProcessSpec, StateCounts, TaskList } from '../../protocol/adapter.ts';
import type { SamplingConfig } from '../../protocol/config.ts';
import type { EpisodeKey } from '../../protocol/ids.ts';
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { RecordingProxy, Upstream } from '../proxy/contract.ts';
import type { Section } from '../store/contract.ts';
import type { OutcomeInput } from './adapter-messages.ts';
import type { ProcessRoster } from './process-roster.ts';
import type { WorkerPool } from './worker-pool.ts';

/** An adapter running in its own child process. */
export interface LoadedAdapter {
  readonly name: string;
  /** Absolute path of the adapter file and the hash of its text. */
  readonly file: string;
  readonly sha256: string;
  /** Folder of the training config. */
  readonly workspace: string;
  /** Environment variables that its processes and harnesses do not get, besides those that look like secrets. */
  readonly withheld: readonly string[];
  readonly onUpstreamFailure: 'pass' | 'fail-fast';
  readonly hasScriptedTeacher: boolean;
  /** Empty when the adapter lists none. @throws AdapterError, as all of the following. */
  tasks(): Promise<TaskList>;
  /** Undefined when the adapter tells no number of initial states. */
  states(): Promise<StateCounts | undefined>;
  launch(request: EpisodeRequest): Promise<Launch>;
  outcome(input: OutcomeInput): Promise<Outcome>;
  scriptedTeacher(): Promise<ProcessSpec>;
  close(): Promise<void>;
}

export interface EpisodeJob {
  key: EpisodeKey;
}

export interface RolloutOptions {
  adapter: LoadedAdapter;
  jobs: EpisodeJob[];
  proxy: RecordingProxy;
  upstream: Upstream;
  section: Section;
  sampling: SamplingConfig;
  limits: EpisodeRequest['limits'];
  concurrency: number;
  /** Folder of the training config. */
  workspace: string;
  /** Where started processes are noted. */
  roster?: ProcessRoster;
  /** Workers that go on living afterwards, for the next jobs; without it workers end with the jobs. */
  workers?: WorkerPool;
  /** Cancels at once: running episodes are ended and leave no episode record. */
  signal?: AbortSignal;
  /** Asked before each start: true lets running episodes finish and starts no more. */
  stopStarting?: () => boolean;
  /** After the episode's record is on disk. */
  onEpisode?: (episode: EpisodeRecord) => void | Promise<void>;
}

/**
 * Runs the jobs and resolves with the records of all that finished (invalid ones included), in the jobs' order; also
 * after a cancellation.
 * @throws HarnessError when the harness cannot be started or keeps crashing before its first planner call; StoreError
 *   when a record cannot be written; Error when the upstream cannot sample as asked. Running episodes are then ended
 *   without a record.
 */
export type RunEpisodes = (options: RolloutOptions) => Promise<EpisodeRecord[]>;
