/** Qwen3's forward pass written out plainly in double precision: what the fused graphs are held to. */
import { type PlannerWeights, tensorSpecs } from '../../../../../trainer-daemon/planner/architecture.ts';

/** Log-probabilities of the next token after each token: [ids.length][vocabulary]. */
export function referenceLogprobs({ architecture: a, flat }: PlannerWeights, ids: number[]): number[][] {
  const tensors = new Map(tensorSpecs(a).map((s) => [s.name, flat.subarray(s.offset, s.offset + s.size)]));
  const get = (name: string) => tensors.get(`${name}.weight`)!;
  const linear = (x: number[], weight: Float32Array) =>
    Array.from({ length: weight.length / x.length }, (_, row) =>
      x.reduce((sum, v, k) => sum + v * weight[row * x.length + k], 0),
    );
  const norm = (x: number[], scale: Float32Array) => {
    const root = Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length + a.rmsEpsilon);
    return x.map((v, i) => (v / root) * scale[i]);
  };
  const rotate = (x: number[], position: number) => {
    const half = a.headDim / 2;
    return x.map((v, i) => {
      const angle = position * a.ropeTheta ** (-(i % half) / half);
      const other = i < half ? -x[i + half] : x[i - half];
      return v * Math.cos(angle) + other * Math.sin(angle);
    });
  };
  const heads = (x: number[], count: number) =>
    Array.from({ length: count }, (_, h) => x.slice(h * a.headDim, (h + 1) * a.headDim));

  let states = ids.map((id) => [...get('model.embed_tokens').subarray(id * a.hidden, (id + 1) * a.hidden)]);
  for (let l = 0; l < a.layers; l++) {
    const layer = (part: string) => get(`model.layers.${l}.${part}`);
    const normed = states.map((x) => norm(x, layer('input_layernorm')));
    const q = normed.map((x, p) =>
      heads(linear(x, layer('self_attn.q_proj')), a.heads).map((h) => rotate(norm(h, layer('self_attn.q_norm')), p)),
    );
    const k = normed.map((x, p) =>
      heads(linear(x, layer('self_attn.k_proj')), a.kvHeads).map((h) => rotate(norm(h, layer('self_attn.k_norm')), p)),
    );
    const v = normed.map((x) => heads(linear(x, layer('self_attn.v_proj')), a.kvHeads));
    states = states.map((x, p) => {
      const mixed = q[p].flatMap((query, h) => {
        const group = Math.floor(h / (a.heads / a.kvHeads));
        const scores = k
          .slice(0, p + 1)
          .map((key) => key[group].reduce((sum, w, i) => sum + w * query[i], 0) / Math.sqrt(a.headDim));
        const largest = Math.max(...scores);
        const weights = scores.map((s) => Math.exp(s - largest));
        const total = weights.reduce((s, w) => s + w, 0);
        return query.map((_, i) => weights.reduce((sum, w, t) => sum + (w / total) * v[t][group][i], 0));
      });
      const afterAttention = linear(mixed, layer('self_attn.o_proj')).map((y, i) => x[i] + y);
      const m = norm(afterAttention, layer('post_attention_layernorm'));
      const up = linear(m, layer('mlp.up_proj'));
      const gated = linear(m, layer('mlp.gate_proj')).map((g, i) => (g / (1 + Math.exp(-g))) * up[i]);
      return linear(gated, layer('mlp.down_proj')).map((y, i) => afterAttention[i] + y);
    });
  }
  return states.map((x) => {
    const logits = linear(norm(x, get('model.norm')), get(a.tiedEmbeddings ? 'model.embed_tokens' : 'lm_head'));
    return logSoftmax(logits);
  });
}

export function logSoftmax(logits: ArrayLike<number>): number[] {
  const values = Array.from(logits);
  const largest = Math.max(...values);
  const total = Math.log(values.reduce((sum, x) => sum + Math.exp(x - largest), 0));
  return values.map((x) => x - largest - total);
}
