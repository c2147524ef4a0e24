/**
 * The decoder as an ONNX graph that reads key/value caches and returns the new tokens' keys and values. The caches are
 * inputs only: Node's binding copies every output, so a cache that is also an output (as GroupQueryAttention wants it)
 * would be copied whole at every token. Attention therefore has parts, joined before the softmax: over what all sequences
 * share (read once for all of them), over what each has cached for itself, and over the new tokens.
 */
import { type Architecture, tensorSpecs } from '../architecture.ts';
import { GraphBuilder, type Value } from '../onnx/builder.ts';
import { ropeTables } from '../onnx/rope.ts';

/** Name under which the weights' bytes are handed to the session. */
export const WEIGHTS_PATH = 'weights';

/**
 * With B sequences, S new tokens of each, T positions shared by all, P cached ones of each and G = heads / kvHeads:
 *
 * Inputs: `ids` [B, S] int32; `positions` [B, S] int64; `rows` [R] int32, rows of the flattened [B * S] tokens whose
 * logits are wanted; `past_mask` [B, 1, 1, P], added to the scores of cached positions; `new_mask` [G * S, S], added
 * to those of new tokens (the rows of a group's heads one after another); `parts` [3] int64, T, P and S;
 * `shared_key.L` and `shared_value.L` [1, kvHeads, T, headDim], `past_key.L` and `past_value.L` [B, kvHeads, P, headDim],
 * keys already rotated; T may be 0. Shapes that the graph cannot know, int64: `by_sequence` [kvHeads, B, G * S, T],
 * `together` [1, kvHeads, B * G * S, T], `mixed` [kvHeads, B, G * S, headDim].
 *
 * Outputs: `logits` [R, vocabulary]; `new` [2 * layers, B, kvHeads, S, headDim]: keys and values of layer 0, of
 * layer 1, ...
 * @param context positions in the rotary tables.
 */
export function decodeGraph(a: Architecture, context: number): Uint8Array {
  const graph = new GraphBuilder();
  const ids = graph.input('ids', ['B', 'S'], 'int32');
  const positions = graph.input('positions', ['B', 'S'], 'int64');
  const rows = graph.input('rows', ['R'], 'int32');
  const pastMask = graph.input('past_mask', ['B', 1, 1, 'P']);
  const newMask = graph.input('new_mask', ['GS', 'S']);
  const parts = graph.input('parts', [3], 'int64');
  const bySequence = graph.input('by_sequence', [4], 'int64');
  const together = graph.input('together', [4], 'int64');
  const mixedShape = graph.input('mixed', [4], 'int64');
  for (const { name, shape, offset } of tensorSpecs(a)) {
    graph.externalInitializer(name, shape, WEIGHTS_PATH, 4 * offset);
  }
  const rope = ropeTables(a, context);
  const cos = graph.initializer('cos', [context, rope.half], rope.cos);
  const sin = graph.initializer('sin', [context, rope.half], rope.sin);

  const norm = (x: Value, scale: string) =>
    graph.op('SimplifiedLayerNormalization', [x, scale], { axis: -1, epsilon: { float: a.rmsEpsilon } });
  /** x [B, S, K] times the transposed weight [N, K] of a linear layer. */
  const linear = (x: Value, weight: string) => graph.microsoft('FusedMatMul', [x, weight], { transB: 1 });
  /** [B, S, heads * headDim] to [B, heads, S, headDim]. */
  const byHead = (x: Value, heads: number) => graph.transpose(graph.reshape(x, [0, 0, heads, a.headDim]), [0, 2, 1, 3]);
  /** Per-head norm and rotation of queries or keys. */
  const rotated = (x: Value, heads: number, scale: string) => {
    const normed = norm(graph.reshape(x, [0, 0, heads, a.headDim]), scale);
    const flat = graph.reshape(normed, [0, 0, heads * a.headDim]);
    return byHead(graph.microsoft('RotaryEmbedding', [flat, positions, cos, sin]), heads);
  };
  const alpha = { float: 1 / Math.sqrt(a.headDim) };
  const products = (q: Value, k: Value) => graph.microsoft('FusedMatMul', [q, k], { transB: 1, alpha });
  const scores = (q: Value, k: Value, mask: Value) => graph.add(products(q, k), mask);
  /** [B, kvHeads, ...] to [kvHeads, B, ...] and back: all sequences' rows of a key head lie together. */
  const swapped = (x: Value) => graph.transpose(x, [1, 0, 2, 3]);

  const fresh: Value[] = [];
  let x = graph.gather('model.embed_tokens.weight', ids);
  for (let l = 0; l < a.layers; l++) {
    const name = (part: string) => `model.layers.${l}.${part}.weight`;
    const sharedKey = graph.input(`shared_key.${l}`, [1, a.kvHeads, 'T', a.headDim]);
    const sharedValue = graph.input(`shared_value.${l}`, [1, a.kvHeads, 'T', a.headDim]);
    const pastKey = graph.input(`past_key.${l}`, ['B', a.kvHeads, 'P', a.headDim]);
    const pastValue = graph.input(`past_value.${l}`, ['B', a.kvHeads, 'P', a.headDim]);
    const h = norm(x, name('input_layernorm'));
    const q = rotated(linear(h, name('self_attn.q_proj')), a.heads, name('self_attn.q_norm'));
    const key = rotated(linear(h, name('self_attn.k_proj')), a.kvHeads, name('self_attn.k_norm'));
    const value = byHead(linear(h, name('self_attn.v_proj')), a.kvHeads);
    fresh.push(key, value);
    // The query heads that share a key head become rows of one matrix: keys and values are never repeated.
    const grouped = graph.reshape(q, [0, a.kvHeads, -1, a.headDim]);
    const rowsTogether = graph.reshape(swapped(grouped), [1, a.kvHeads, -1, a.headDim]);
    const ofShared = swapped(graph.reshapeTo(products(rowsTogether, sharedKey), bySequence));
    const all = graph.concat([ofShared, scores(grouped, pastKey, pastMask), scores(grouped, key, newMask)], 3);
    const [onShared, onPast, onNew] = graph.ops('Split', [graph.softmax(all), parts], 3, { axis: 3 });
    const fromShared = graph.matMul(graph.reshapeTo(swapped(onShared), together), sharedValue);
    const mixed = graph.add(
      swapped(graph.reshapeTo(fromShared, mixedShape)),
      graph.add(graph.matMul(onPast, pastValue), graph.matMul(onNew, value)),
    );
    const heads = graph.transpose(graph.reshape(mixed, [0, a.heads, -1, a.headDim]), [0, 2, 1, 3]);
    x = graph.add(x, linear(graph.reshape(heads, [0, 0, a.heads * a.headDim]), name('self_attn.o_proj')));
    const m = norm(x, name('post_attention_layernorm'));
    // QuickGelu with alpha 1 is SiLU: x * sigmoid(x).
    const gate = graph.microsoft('QuickGelu', [linear(m, name('mlp.gate_proj'))], { alpha: { float: 1 } });
    x = graph.add(x, linear(graph.mul(gate, linear(m, name('mlp.up_proj'))), name('mlp.down_proj')));
  }
  const axis = graph.constant([0], 'int64');
  const stacked = graph.concat(
    fresh.map((tensor) => graph.op('Unsqueeze', [tensor, axis])),
    0,
  );
  graph.output(stacked, 'new', [2 * a.layers, 'B', a.kvHeads, 'S', a.headDim]);
  const wanted = graph.gather(graph.reshape(x, [-1, a.hidden]), rows);
  const head = a.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  graph.output(linear(norm(wanted, 'model.norm.weight'), head), 'logits', ['R', a.vocabulary]);
  return graph.build();
}
