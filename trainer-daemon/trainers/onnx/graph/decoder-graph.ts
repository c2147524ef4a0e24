/** The planner as one graph: forward only (scoring), or forward, loss and every gradient (training). */
import { type Architecture, tensorSpecs } from '../../../planner/architecture.ts';
import { GraphBuilder, type Value } from '../../../planner/onnx/builder.ts';
import { attention } from './attention.ts';
import { declareGeometry, type GeometryInputs } from './geometry.ts';
import { declareLossInputs, targetLogprobs, tokenLosses } from './loss.ts';
import { type OperatorSet, Tape } from './tape.ts';

export interface GraphOptions {
  operators: OperatorSet;
  /** Attention chunks of a row. */
  chunks: number;
  /** Names of the tensors whose gradient is wanted; the rest of the backward pass is then left out by the runtime. */
  trained: ReadonlySet<string>;
}

export const EMBEDDING = 'model.embed_tokens.weight';

/**
 * Inputs: `ids` [tokens], `targetPositions` [targets] into the tokens, `targetIds`, the weights under their Hugging
 * Face names, and those of {@link declareGeometry}. Output: `logprobs` [targets, 1].
 */
export function buildScoringGraph(a: Architecture, options: Omit<GraphOptions, 'trained'>): Uint8Array {
  const g = new GraphBuilder();
  const t = new Tape(g, options.operators);
  const targetIds = g.input('targetIds', ['targets', 1], 'int32');
  const { logits } = forward(t, a, declareInputs(g, a, options));
  g.output(targetLogprobs(g, logits, targetIds, options.operators).chosen, 'logprobs', ['targets', 1]);
  return g.build();
}

/**
 * As {@link buildScoringGraph}, with the inputs of {@link declareLossInputs} and `targetOf` [tokens]: which target
 * stands at a token, or the number of targets where none does. Further outputs: `loss`, `inside` [targets, 1],
 * `d.<name>` for every trained tensor, and `d.embedded` [tokens, hidden] where the embedding is trained: its scatter-add
 * is left to the caller (ScatterND with reduction on several CPU threads loses updates). With tied embeddings
 * `d.<embedding>` is the output layer's part only; without, it is absent.
 */
export function buildTrainingGraph(a: Architecture, options: GraphOptions): Uint8Array {
  const g = new GraphBuilder();
  const t = new Tape(g, options.operators);
  const inputs = declareInputs(g, a, options);
  const lossInputs = declareLossInputs(g);
  const targetOf = g.input('targetOf', ['tokens'], 'int32');
  const { logits, embedded } = forward(t, a, inputs, targetOf);
  const logprobs = targetLogprobs(g, logits, lossInputs.targetIds, options.operators);
  const { loss, inside, dLogits } = tokenLosses(g, lossInputs, logprobs);
  t.setGradient(logits, dLogits);
  t.backward();

  g.output(loss, 'loss', []);
  g.output(inside, 'inside', ['targets', 1]);
  g.output(logprobs.chosen, 'logprobs', ['targets', 1]);
  for (const { name, shape } of tensorSpecs(a)) {
    if (options.trained.has(name) && t.hasGradient(name)) g.output(t.gradient(name), `d.${name}`, shape);
  }
  if (options.trained.has(EMBEDDING)) g.output(t.gradient(embedded), 'd.embedded', ['tokens', a.hidden]);
  return g.build();
}

interface DecoderInputs {
  ids: Value;
  targetPositions: Value;
  geometry: GeometryInputs;
}

function declareInputs(g: GraphBuilder, a: Architecture, options: Omit<GraphOptions, 'trained'>): DecoderInputs {
  const ids = g.input('ids', ['tokens'], 'int32');
  const targetPositions = g.input('targetPositions', ['targets'], 'int32');
  const geometry = declareGeometry(g, a, options.chunks, options.operators);
  for (const { name, shape } of tensorSpecs(a)) g.input(name, shape);
  return { ids, targetPositions, geometry };
}

/** Logits [targets, vocabulary] and the embedded tokens [tokens, hidden]. */
function forward(t: Tape, a: Architecture, inputs: DecoderInputs, targetOf?: Value) {
  const g = t.g;
  const embedded = g.gather(EMBEDDING, inputs.ids);
  let x = embedded;
  for (let l = 0; l < a.layers; l++) x = layer(t, a, inputs.geometry, `model.layers.${l}`, x);

  const last = x;
  const atTargets = g.gather(last, inputs.targetPositions);
  if (targetOf !== undefined) {
    t.record(() => {
      // Tokens without a target take the row of zeros behind the last target.
      const zeros = g.constant(new Array<number>(a.hidden).fill(0), 'float32', [1, a.hidden]);
      t.setGradient(last, g.gather(g.concat([t.gradient(atTargets), zeros], 0), targetOf));
    });
  }
  const head = a.tiedEmbeddings ? EMBEDDING : 'lm_head.weight';
  const unit = t.normalize(atTargets, a.hidden, a.rmsEpsilon);
  const logits = t.linear(unit, t.foldScale(head, 'model.norm.weight'));
  return { logits, embedded };
}

function layer(t: Tape, a: Architecture, geometry: GeometryInputs, prefix: string, x: Value): Value {
  const weight = (name: string) => `${prefix}.${name}.weight`;
  const afterNorm = (unit: Value, norm: string, name: string) =>
    t.linear(unit, t.foldScale(weight(name), weight(norm)));

  const unit1 = t.normalize(x, a.hidden, a.rmsEpsilon);
  const [q, k, v] = ['q_proj', 'k_proj', 'v_proj'].map((name) =>
    afterNorm(unit1, 'input_layernorm', `self_attn.${name}`),
  );
  const norms = { queryNorm: weight('self_attn.q_norm'), keyNorm: weight('self_attn.k_norm') };
  const mixed = attention(t, a, geometry, norms, q, k, v);
  const x1 = t.linear(mixed, weight('self_attn.o_proj'), x);

  const unit2 = t.normalize(x1, a.hidden, a.rmsEpsilon);
  const gate = afterNorm(unit2, 'post_attention_layernorm', 'mlp.gate_proj');
  const up = afterNorm(unit2, 'post_attention_layernorm', 'mlp.up_proj');
  return t.linear(swiglu(t, gate, up), weight('mlp.down_proj'), x1);
}

/** silu(gate) * up. */
function swiglu(t: Tape, gate: Value, up: Value): Value {
  const g = t.g;
  // QuickGelu with alpha 1 is x sigmoid(x).
  const fused = t.operators === 'fused';
  const forwardSigmoid = fused ? undefined : g.op('Sigmoid', [gate]);
  const activated =
    forwardSigmoid === undefined
      ? g.microsoft('QuickGelu', [gate], { alpha: { float: 1 } })
      : g.mul(gate, forwardSigmoid);
  const product = g.mul(activated, up);
  t.record(() => {
    const d = t.gradient(product);
    const sigmoid = forwardSigmoid ?? g.op('Sigmoid', [gate]);
    t.setGradient(up, g.mul(d, activated));
    // silu' = s + a - a s, with s the sigmoid and a the activation.
    const slope = g.add(sigmoid, g.sub(activated, g.mul(activated, sigmoid)));
    t.setGradient(gate, g.mul(g.mul(d, up), slope));
  });
  return product;
}
