/** What the calling thread and the trainer's worker thread say to each other. */
import type { Trainer } from '../contract.ts';

export type Method = 'score' | 'sftStep' | 'rlStep' | 'exportCheckpoint' | 'saveOptimizer' | 'close';

/** A call of a {@link Trainer} method; `score` is called without its progress function. */
export interface Request {
  id: number;
  method: Method;
  args: unknown[];
}

export type Reply =
  | { kind: 'ready'; device: string; stepsTaken: number }
  /** The trainer could not be opened. */
  | { kind: 'refused'; message: string }
  | { kind: 'progress'; id: number; done: number; total: number }
  | { kind: 'result'; id: number; result: unknown; stepsTaken: number }
  /** `code` is that of a file system's error, where one is behind it. */
  | { kind: 'error'; id: number; message: string; code?: string };

/** Result of a method as it is sent. */
export type ResultOf<M extends Method> = Awaited<ReturnType<Trainer[M]>>;
