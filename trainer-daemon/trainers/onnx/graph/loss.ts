/**
 * Log-probabilities of the target tokens, the token losses of eq. 3 and eq. 5-7, and the gradient of the logits.
 *
 * Both losses are sums over target tokens, L = -sum_t [ s_t log p_t + k_t clamp(rho_t, lo_t, hi_t) ], rho = p / q:
 * - eq. 3 has s_t = 1 / (supervised tokens of the optimizer batch) and k_t = 0;
 * - eq. 5-7 have s_t = 0 and k_t = u w_t A / (L sum of u). Eq. 7 is a clamp of rho: for A > 0 the token loss
 *   max(-rho A, -clip(rho, 1-e_low, 1+e_high) A) is -A min(rho, 1+e_high); for A < 0 the outer min with -d A makes it
 *   -A min(max(rho, 1-e_low), d). The bounds are therefore [0, 1+e_high] or [1-e_low, d], by the sign of A.
 * The factors are computed outside, from the whole optimizer batch; so a sum over micro-batches is the exact loss.
 */
import type { GraphBuilder, Value } from '../../../planner/onnx/builder.ts';
import type { OperatorSet } from './tape.ts';

/** Above this, log rho is taken as this: rho stays finite, and beyond every bound. */
export const LARGEST_LOG_RATIO = 80;

export interface LossInputs {
  /** [targets, 1] token ids, int32. */
  targetIds: Value;
  /** s, k, log q, lo and hi above, [targets, 1]. */
  supervised: Value;
  weighted: Value;
  oldLogprobs: Value;
  lower: Value;
  upper: Value;
}

export function declareLossInputs(g: GraphBuilder): LossInputs {
  const column = (name: string) => g.input(name, ['targets', 1]);
  return {
    targetIds: g.input('targetIds', ['targets', 1], 'int32'),
    supervised: column('supervised'),
    weighted: column('weighted'),
    oldLogprobs: column('oldLogprobs'),
    lower: column('lower'),
    upper: column('upper'),
  };
}

/** Log-probabilities of the targets [targets, 1] and the softmax as (numerator, denominator). */
export function targetLogprobs(g: GraphBuilder, logits: Value, targetIds: Value, operators: OperatorSet) {
  if (operators === 'fused') {
    const logp = g.op('LogSoftmax', [logits], { axis: -1 });
    const chosen = g.op('GatherElements', [logp, targetIds], { axis: 1 });
    return { chosen, weightedSoftmax: (weight: Value) => g.mul(g.op('Exp', [logp]), weight) };
  }
  // LogSoftmax has no WebGPU kernel.
  const shifted = g.sub(logits, g.reduceMax(logits, [1]));
  const exponentials = g.op('Exp', [shifted]);
  const total = g.reduceSum(exponentials, [1]);
  const chosen = g.sub(g.op('GatherElements', [shifted, targetIds], { axis: 1 }), g.op('Log', [total]));
  return { chosen, weightedSoftmax: (weight: Value) => g.mul(exponentials, g.div(weight, total)) };
}

/**
 * @returns loss (scalar); inside: 1 where lo <= rho <= hi, so that the gradient flows; the gradient of the logits
 */
export function tokenLosses(
  g: GraphBuilder,
  inputs: LossInputs,
  logprobs: ReturnType<typeof targetLogprobs>,
): { loss: Value; inside: Value; dLogits: Value } {
  const { chosen } = logprobs;
  const logRatio = g.op('Min', [g.sub(chosen, inputs.oldLogprobs), g.constant([LARGEST_LOG_RATIO])]);
  const ratio = g.op('Exp', [logRatio]);
  const clamped = g.op('Min', [g.op('Max', [ratio, inputs.lower]), inputs.upper]);
  const inside = g.op('Cast', [g.op('Equal', [clamped, ratio])], { to: 1 });
  const gain = g.add(g.mul(inputs.supervised, chosen), g.mul(inputs.weighted, clamped));
  const loss = g.op('Neg', [g.reduceSum(gain, [0, 1], false)]);
  // -dL/dlog p of each target; dL/dlogits = weight (softmax - onehot).
  const weight = g.add(inputs.supervised, g.mul(g.mul(inputs.weighted, ratio), inside));
  const atTarget = g.mul(weight, g.sub(g.op('Exp', [chosen]), g.constant(1)));
  const dLogits = g.op('ScatterElements', [logprobs.weightedSoftmax(weight), inputs.targetIds, atTarget], { axis: 1 });
  return { loss, inside, dLogits };
}
