/**
 * Reverse-mode differentiation while a graph is built: every forward step records a closure that adds the nodes of its
 * backward step; {@link Tape.backward} runs the closures in reverse order. Values are 2-D, [tokens, features].
 */
import type { GraphBuilder, Value } from '../../../planner/onnx/builder.ts';

/** `fused` uses ONNX Runtime's own CPU kernels, `portable` only standard operators (GPU execution providers). */
export type OperatorSet = 'fused' | 'portable';

export class Tape {
  readonly g: GraphBuilder;
  readonly operators: OperatorSet;
  private readonly gradients = new Map<Value, Value>();
  private steps: (() => void)[] = [];

  constructor(g: GraphBuilder, operators: OperatorSet) {
    this.g = g;
    this.operators = operators;
  }

  /** Adds a backward step; it runs after those of all later forward steps. */
  record(step: () => void): void {
    this.steps.push(step);
  }

  backward(): void {
    for (const step of this.steps.reverse()) step();
    this.steps = [];
  }

  /** The gradient of a value, complete once every use of the value has run its backward step. */
  gradient(x: Value): Value {
    const gradient = this.gradients.get(x);
    if (gradient === undefined) throw new Error(`no gradient reaches ${x}`);
    return gradient;
  }

  hasGradient(x: Value): boolean {
    return this.gradients.has(x);
  }

  setGradient(x: Value, gradient: Value): void {
    this.gradients.set(x, gradient);
  }

  addGradient(x: Value, gradient: Value): void {
    const old = this.gradients.get(x);
    this.gradients.set(x, old === undefined ? gradient : this.g.add(old, gradient));
  }

  /** y = x W^T (+ residual) with W stored [out, in]. Gradients accumulate through Gemm's C input: no pass of Add. */
  linear(x: Value, weight: Value, residual?: Value): Value {
    const y = this.g.gemm(x, weight, { transB: true, plus: residual });
    this.record(() => {
      const dy = this.gradient(y);
      this.addGradient(weight, this.g.gemm(dy, x, { transA: true }));
      this.setGradient(x, this.g.gemm(dy, weight, { plus: this.gradients.get(x) }));
      if (residual !== undefined) this.addGradient(residual, dy);
    });
    return y;
  }

  /**
   * The weight of a linear layer that follows an RMSNorm, with the norm's scale folded in: W' = W diag(scale). The
   * scale then costs work of the weight's size instead of the activations'.
   */
  foldScale(weight: Value, scale: Value): Value {
    const folded = this.g.mul(weight, scale);
    this.record(() => {
      const d = this.gradient(folded);
      this.addGradient(weight, this.g.mul(d, scale));
      this.addGradient(scale, this.g.reduceSum(this.g.mul(d, weight), [0], false));
    });
    return folded;
  }

  /** RMSNorm without its scale: x / sqrt(mean(x^2) + epsilon) over the last dimension, of the given size. */
  normalize(x: Value, size: number, epsilon: number): Value {
    const [y, inverse] = this.normalized(x, size, epsilon);
    this.record(() => this.addGradient(x, this.normalizeBackward(this.gradient(y), y, inverse)));
    return y;
  }

  /** [x / rms(x), 1 / rms(x)], no backward step recorded. */
  normalized(x: Value, size: number, epsilon: number): [Value, Value] {
    const g = this.g;
    if (this.operators === 'fused') {
      const ones = g.constant(new Array<number>(size).fill(1));
      const [y, inverse] = g.ops('SimplifiedLayerNormalization', [x, ones], 2, {
        axis: -1,
        epsilon: { float: epsilon },
      });
      return [y, inverse];
    }
    const meanSquare = g.add(g.reduceMean(g.mul(x, x), [-1]), g.constant(epsilon));
    const inverse = g.op('Reciprocal', [g.op('Sqrt', [meanSquare])]);
    return [g.mul(x, inverse), inverse];
  }

  /** dx = (dy - y mean(dy y)) / rms(x). */
  normalizeBackward(dy: Value, y: Value, inverse: Value): Value {
    const g = this.g;
    const projection = g.reduceMean(g.mul(dy, y), [-1]);
    return g.mul(g.sub(dy, g.mul(y, projection)), inverse);
  }

  /** Product of the last two dimensions of 4-D values, alpha * op(a) op(b). */
  batchMatMul(a: Value, b: Value, options: { transA?: boolean; transB?: boolean; alpha?: number } = {}): Value {
    const { transA, transB, alpha } = options;
    const g = this.g;
    if (this.operators === 'fused') {
      return g.microsoft('FusedMatMul', [a, b], {
        transA: transA ? 1 : 0,
        transB: transB ? 1 : 0,
        alpha: { float: alpha ?? 1 },
      });
    }
    const flip = (x: Value) => g.transpose(x, [0, 1, 3, 2]);
    const product = g.matMul(transA ? flip(a) : a, transB ? flip(b) : b);
    return alpha === undefined ? product : g.mul(product, g.constant(alpha));
  }
}
