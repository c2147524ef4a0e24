/**
 * AdamW (decoupled weight decay, bias-corrected moments, as in PyTorch) over one flat parameter array, with clipping by
 * the global gradient norm. Arithmetic in double precision, storage in float32.
 */
import type { OptimizerOptions } from '../contract.ts';

/** A range of the flat array, end excluded. */
export interface Range {
  begin: number;
  end: number;
}

export interface AdamState {
  /** Steps taken, t. */
  steps: number;
  firstMoments: Float32Array<ArrayBuffer>;
  secondMoments: Float32Array<ArrayBuffer>;
}

export function freshAdamState(parameters: number): AdamState {
  return { steps: 0, firstMoments: new Float32Array(parameters), secondMoments: new Float32Array(parameters) };
}

/** Euclidean norm over the ranges; summed in a fixed order, so equal gradients give equal bits. */
export function globalNorm(gradients: Float32Array, ranges: readonly Range[]): number {
  let sum = 0;
  for (const { begin, end } of ranges) for (let i = begin; i < end; i++) sum += gradients[i] * gradients[i];
  return Math.sqrt(sum);
}

/**
 * One step in place. Parameters outside the ranges keep their values and moments.
 * @param norm the gradients' global norm; above `clipNorm` they are scaled by clipNorm / (norm + 1e-6)
 */
export function adamWStep(
  parameters: Float32Array,
  gradients: Float32Array,
  state: AdamState,
  ranges: readonly Range[],
  norm: number,
  options: OptimizerOptions,
): void {
  const { learningRate, epsilon, weightDecay, clipNorm } = options;
  const [beta1, beta2] = options.betas;
  const { firstMoments: m, secondMoments: v } = state;
  const scale = Math.min(1, clipNorm / (norm + 1e-6));
  state.steps++;
  const stepSize = learningRate / (1 - beta1 ** state.steps);
  const inverseRoot = 1 / Math.sqrt(1 - beta2 ** state.steps);
  const keep = 1 - learningRate * weightDecay;
  const gain1 = (1 - beta1) * scale;
  const gain2 = (1 - beta2) * scale * scale;
  for (const { begin, end } of ranges) {
    for (let i = begin; i < end; i++) {
      const gradient = gradients[i];
      const first = beta1 * m[i] + gain1 * gradient;
      const second = beta2 * v[i] + gain2 * gradient * gradient;
      m[i] = first;
      v[i] = second;
      parameters[i] = parameters[i] * keep - (stepSize * first) / (Math.sqrt(second) * inverseRoot + epsilon);
    }
  }
}
