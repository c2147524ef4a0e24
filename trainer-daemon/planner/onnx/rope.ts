/** Rotary position tables (RoPE, half-split as in Hugging Face: element i is rotated with element i + headDim / 2). */
import type { Architecture } from '../architecture.ts';

export interface RopeTables {
  /** [positions, headDim / 2], row-major: cos(position * theta^(-2i / headDim)). */
  cos: Float32Array<ArrayBuffer>;
  sin: Float32Array<ArrayBuffer>;
  positions: number;
  half: number;
}

/**
 * Tables for positions 0 ... positions - 1, computed in double precision.
 * @throws RangeError when headDim is odd
 */
export function ropeTables(a: Pick<Architecture, 'headDim' | 'ropeTheta'>, positions: number): RopeTables {
  if (a.headDim % 2 !== 0) throw new RangeError(`headDim must be even, not ${a.headDim}`);
  const half = a.headDim / 2;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let i = 0; i < half; i++) {
    const frequency = a.ropeTheta ** (-i / half);
    for (let p = 0; p < positions; p++) {
      cos[p * half + i] = Math.cos(p * frequency);
      sin[p * half + i] = Math.sin(p * frequency);
    }
  }
  return { cos, sin, positions, half };
}
