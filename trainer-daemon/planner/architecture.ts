/**
 * The planner's architecture: a Qwen3-style decoder (RMSNorm, rotary positions, grouped-query attention with per-head
 * query and key norms, SwiGLU), named and laid out as in a Hugging Face checkpoint of `Qwen3ForCausalLM`.
 */

export interface Architecture {
  layers: number;
  hidden: number;
  intermediate: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  vocabulary: number;
  /** Longest sequence, prompt and response together, in tokens. */
  context: number;
  ropeTheta: number;
  rmsEpsilon: number;
  tiedEmbeddings: boolean;
}

export interface TensorSpec {
  /** Hugging Face name, for example `model.layers.0.self_attn.q_proj.weight`. */
  name: string;
  /** As stored: a linear layer's weight is [out, in]. */
  shape: number[];
  /** Start in the flat parameter array, in elements. */
  offset: number;
  size: number;
}

/** Every parameter tensor in the order of the flat parameter array. */
export function tensorSpecs(a: Architecture): TensorSpec[] {
  const specs: TensorSpec[] = [];
  let offset = 0;
  const add = (name: string, ...shape: number[]) => {
    const size = shape.reduce((x, y) => x * y, 1);
    specs.push({ name, shape, offset, size });
    offset += size;
  };
  add('model.embed_tokens.weight', a.vocabulary, a.hidden);
  for (let l = 0; l < a.layers; l++) {
    const layer = `model.layers.${l}`;
    add(`${layer}.input_layernorm.weight`, a.hidden);
    add(`${layer}.self_attn.q_proj.weight`, a.heads * a.headDim, a.hidden);
    add(`${layer}.self_attn.k_proj.weight`, a.kvHeads * a.headDim, a.hidden);
    add(`${layer}.self_attn.v_proj.weight`, a.kvHeads * a.headDim, a.hidden);
    add(`${layer}.self_attn.q_norm.weight`, a.headDim);
    add(`${layer}.self_attn.k_norm.weight`, a.headDim);
    add(`${layer}.self_attn.o_proj.weight`, a.hidden, a.heads * a.headDim);
    add(`${layer}.post_attention_layernorm.weight`, a.hidden);
    add(`${layer}.mlp.gate_proj.weight`, a.intermediate, a.hidden);
    add(`${layer}.mlp.up_proj.weight`, a.intermediate, a.hidden);
    add(`${layer}.mlp.down_proj.weight`, a.hidden, a.intermediate);
  }
  add('model.norm.weight', a.hidden);
  if (!a.tiedEmbeddings) add('lm_head.weight', a.vocabulary, a.hidden);
  return specs;
}

/** Number of parameters. */
export function parameterCount(a: Architecture): number {
  const specs = tensorSpecs(a);
  const last = specs[specs.length - 1];
  return last.offset + last.size;
}

/** A planner's weights: float32, one flat array in the order of {@link tensorSpecs}. */
export interface PlannerWeights {
  architecture: Architecture;
  flat: Float32Array;
}
