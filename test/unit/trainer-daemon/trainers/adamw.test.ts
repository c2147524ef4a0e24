import { describe, expect, it } from 'vitest';
import { adamWStep, freshAdamState, globalNorm } from '../../../../trainer-daemon/trainers/onnx/adamw.ts';

const options = {
  learningRate: 0.1,
  betas: [0.9, 0.99] as [number, number],
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

describe('adamWStep', () => {
  it('moves by the learning rate against the sign of a first gradient, whatever its size', () => {
    const p = Float32Array.of(1, 1);
    const g = Float32Array.of(0.001, -0.3);
    adamWStep(p, g, freshAdamState(2), [{ begin: 0, end: 2 }], globalNorm(g, [{ begin: 0, end: 2 }]), options);
    // m / (1 - beta1) = g and v / (1 - beta2) = g^2, so the step is lr g / |g|.
    expect(p[0]).toBeCloseTo(0.9, 5);
    expect(p[1]).toBeCloseTo(1.1, 5);
  });

  it('scales gradients above the clip norm, and only those', () => {
    const moments = (norm: number) => {
      const state = freshAdamState(1);
      adamWStep(Float32Array.of(0), Float32Array.of(norm), state, [{ begin: 0, end: 1 }], norm, options);
      return state.firstMoments[0];
    };
    expect(moments(4)).toBeCloseTo(0.1 * 1, 5);
    expect(moments(0.5)).toBeCloseTo(0.1 * 0.5, 6);
  });

  it('decays weights apart from the gradient, and leaves what lies outside the ranges alone', () => {
    const p = Float32Array.of(5, 2, 5);
    const state = freshAdamState(3);
    const ranges = [{ begin: 1, end: 2 }];
    adamWStep(p, Float32Array.of(1, 0, 1), state, ranges, 0, { ...options, weightDecay: 0.5 });
    expect([...p]).toEqual([5, Math.fround(2 * (1 - 0.1 * 0.5)), 5]);
    expect([...state.firstMoments]).toEqual([0, 0, 0]);
  });

  it('takes the norm over the ranges alone', () => {
    expect(globalNorm(Float32Array.of(100, 3, 4, 100), [{ begin: 1, end: 3 }])).toBe(5);
  });
});
