/** What the server's thread and the planner worker say to each other. */
import type { SampledToken } from './sampling.ts';
import type { FinishReason, GenerationRequest, SchedulerStats } from './scheduler.ts';

/** Handed to the worker when it starts. */
export interface WorkerSettings {
  checkpoint: string;
  policyVersion: number;
  threads: number | null;
  maxBatch: number;
  deterministic: boolean;
}

export type ToWorker =
  /** `stream`: tell each token at once, not all at the end. */
  | { type: 'generate'; request: GenerationRequest; stream: boolean }
  | { type: 'cancel'; id: number }
  | { type: 'activate'; call: number; folder: string; policyVersion: number }
  | { type: 'stats'; call: number }
  | { type: 'close' };

/** A response's progress: tokens not told before, and how it ended once it has. */
export interface Progress {
  id: number;
  tokens: SampledToken[];
  policyVersion: number;
  end: { reason: FinishReason; cachedTokens: number } | null;
}

export type FromWorker =
  | { type: 'ready'; served: ServedLimits }
  | { type: 'failed'; message: string }
  | { type: 'progress'; items: Progress[] }
  | { type: 'activated'; call: number; served: ServedLimits }
  | { type: 'refused'; call: number; message: string }
  | { type: 'stats'; call: number; stats: SchedulerStats };

export interface ServedLimits {
  /** Longest sequence this server takes: the checkpoint's, or what the memory holds. */
  context: number;
  slots: number;
  parameters: number;
}
