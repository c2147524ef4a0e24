/**
 * What a benchmark says to the processes it compares: one JSON line a request, one JSON line a reply, in order. Our
 * side (ours.side.ts) and PyTorch's (torch_side.py) understand the same requests.
 */
import type { Architecture } from '../../trainer-daemon/planner/architecture.ts';
import type { OptimizerOptions, TrainingSequence } from '../../trainer-daemon/trainers/contract.ts';
import type { Timing } from '../measure.ts';

export interface LoadRequest {
  do: 'load';
  /** float32, little-endian, in the order of `tensors`. */
  weights: string;
  architecture: Architecture;
  tensors: { name: string; shape: number[] }[];
  threads: number;
}

/** Loss of eq. 3 under the present weights; no update. */
export interface LossRequest {
  do: 'loss';
  items: TrainingSequence[];
  /** Padded tokens of a micro-batch; 0: the whole batch at once (PyTorch's side only). */
  microBatchTokens: number;
}

/** One optimizer step on the items of the last {@link LossRequest}. */
export interface StepRequest {
  do: 'step';
  optimizer: OptimizerOptions;
}

export interface GreedyRequest {
  do: 'greedy';
  prompts: number[][];
  tokens: number;
}

/** Samples `tokens` tokens a prompt at temperature 1 with their log-probs. */
export interface SampleRequest {
  do: 'sample';
  prompts: number[][];
  tokens: number;
  seed: number;
}

/** `repeats` products of [size, size] matrices. */
export interface ProductRequest {
  do: 'product';
  size: number;
  repeats: number;
}

export type SideRequest = LoadRequest | LossRequest | StepRequest | GreedyRequest | SampleRequest | ProductRequest;

export interface StepReply extends Timing {
  loss: number;
  gradNorm: number;
}

export interface GreedyReply {
  tokens: number[][];
  logprobs: number[][];
}

export interface SampleReply {
  prompt: Timing;
  /** All tokens after the first. */
  decode: Timing;
  /** Seconds of each of those steps. */
  steps: number[];
}
