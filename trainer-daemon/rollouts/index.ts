/** Running episodes of a harness through its adapter (design section 3.2). */
export { type LoadOptions, loadAdapter } from './adapter.ts';
export { AdapterError } from './adapter-error.ts';
export { type CheckedOutput, checkAdapter } from './check-adapter.ts';
export { keyVariables } from './child-environment.ts';
export type { EpisodeJob, LoadedAdapter, RolloutOptions, RunEpisodes } from './contract.ts';
export { ProcessRoster } from './process-roster.ts';
export { HarnessError, runEpisodes } from './run-episodes.ts';
export { type ScriptedTeacher, startScriptedTeacher } from './scripted-teacher.ts';
export { WorkerPool } from './worker-pool.ts';
