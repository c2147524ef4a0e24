/**
 * Causal grouped-query attention with per-head query and key norms and rotary positions, forward and backward. Query
 * heads that share a key head are merged into rows, so keys and values are never repeated. Queries go in chunks: chunk
 * i sees only the keys up to its end, which skips nearly half of the work.
 */
import type { Architecture } from '../../../planner/architecture.ts';
import type { Value } from '../../../planner/onnx/builder.ts';
import type { GeometryInputs } from './geometry.ts';
import type { Tape } from './tape.ts';

export interface AttentionWeights {
  /** Scales of the per-head norms, [headDim]. */
  queryNorm: Value;
  keyNorm: Value;
}

/**
 * @param q [tokens, heads * headDim], @param k and @param v [tokens, kvHeads * headDim], before norm and rotation
 * @returns [tokens, heads * headDim]
 */
export function attention(
  t: Tape,
  a: Architecture,
  geometry: GeometryInputs,
  weights: AttentionWeights,
  q: Value,
  k: Value,
  v: Value,
): Value {
  const g = t.g;
  const { shapes, bounds } = geometry;
  const chunks = bounds.length - 1;
  const scale = 1 / Math.sqrt(a.headDim);
  const query = positioned(t, a, geometry, q, weights.queryNorm, 'query');
  const key = positioned(t, a, geometry, k, weights.keyNorm, 'key');
  const q5 = g.reshapeTo(g.transpose(query.rotated, [0, 2, 1, 3]), shapes.grouped);
  const k4 = g.transpose(key.rotated, [0, 2, 1, 3]);
  const v4 = g.transpose(g.reshapeTo(v, shapes.keyHeads), [0, 2, 1, 3]);

  const cut = (x: Value, axis: number, from: number, to: number) =>
    from === 0 && to === chunks ? x : g.op('Slice', [x, bounds[from], bounds[to], g.constant([axis], 'int64')]);
  const queryChunk = (x: Value, i: number) => g.reshapeTo(cut(x, 3, i, i + 1), shapes.chunkMerged);
  const parts = Array.from({ length: chunks }, (_, i) => {
    const query = queryChunk(q5, i);
    const keys = cut(k4, 2, 0, i + 1);
    const values = cut(v4, 2, 0, i + 1);
    const mask = cut(geometry.mask, 3, chunks - 1 - i, chunks);
    const scores = g.add(t.batchMatMul(query, keys, { transB: true, alpha: scale }), mask);
    const shares = g.softmax(scores);
    return { query, keys, values, shares, out: t.batchMatMul(shares, values) };
  });
  const joined = (values: Value[]) =>
    g.reshapeTo(
      g.concat(
        values.map((x) => g.reshapeTo(x, shapes.chunkGrouped)),
        3,
      ),
      shapes.queryByHead,
    );
  const byToken = g.transpose(joined(parts.map((p) => p.out)), [0, 2, 1, 3]);
  const out = g.reshape(byToken, [-1, a.heads * a.headDim]);

  t.record(() => {
    const dOut = g.transpose(g.reshapeTo(t.gradient(out), shapes.queryHeads), [0, 2, 1, 3]);
    const dOut5 = g.reshapeTo(dOut, shapes.grouped);
    const dQueries: Value[] = [];
    // Gradients of keys and values are kept [rows, kvHeads, headDim, length].
    let dKeys: Value | undefined;
    let dValues: Value | undefined;
    // Softmax backward: dS = P (dP - rowsum(dP P)) with dP = dO V^T and rowsum(dP P) = rowdot(dO, O). Where passes over
    // the scores cost more than products do, -rowdot is a further column of dO and meets a column of ones beside V.
    const valuesAndOnes =
      t.operators === 'fused' && g.op('Pad', [v4, g.constant([0, 0, 0, 0, 0, 0, 0, 1], 'int64'), g.constant(1)]);
    const centred = (d: Value, out: Value, values: Value, i: number) => {
      const rowDot = g.reduceSum(g.mul(d, out), [-1]);
      if (!valuesAndOnes) return g.sub(t.batchMatMul(d, values, { transB: true }), rowDot);
      const extended = g.concat([d, g.op('Neg', [rowDot])], 3);
      return t.batchMatMul(extended, cut(valuesAndOnes, 2, 0, i + 1), { transB: true });
    };
    const accumulate = (sum: Value | undefined, part: Value, i: number) => {
      const padded = i === chunks - 1 ? part : g.op('Pad', [part, geometry.pads[i]]);
      return sum === undefined ? padded : g.add(sum, padded);
    };
    parts.forEach(({ query, keys, values, shares, out }, i) => {
      const d = queryChunk(dOut5, i);
      const dScores = g.mul(shares, centred(d, out, values, i));
      dQueries.push(t.batchMatMul(dScores, keys, { alpha: scale }));
      dKeys = accumulate(dKeys, t.batchMatMul(query, dScores, { transA: true, alpha: scale }), i);
      dValues = accumulate(dValues, t.batchMatMul(d, shares, { transA: true }), i);
    });
    query.backward(g.transpose(joined(dQueries), [0, 2, 1, 3]));
    key.backward(g.transpose(dKeys as Value, [0, 3, 1, 2]));
    t.setGradient(v, g.reshape(g.transpose(dValues as Value, [0, 3, 1, 2]), [-1, a.kvHeads * a.headDim]));
  });
  return out;
}

/** Head norm and rotation of a projection; `rotated` and the gradient given to `backward` are [rows, length, h, headDim]. */
function positioned(
  t: Tape,
  a: Architecture,
  geometry: GeometryInputs,
  projection: Value,
  scale: Value,
  which: 'query' | 'key',
): { rotated: Value; backward(gradient: Value): void } {
  const g = t.g;
  const heads = which === 'query' ? a.heads : a.kvHeads;
  const rows = which === 'query' ? geometry.shapes.queryRows : geometry.shapes.keyRows;
  const byHead = which === 'query' ? geometry.shapes.queryHeads : geometry.shapes.keyHeads;
  const [unit, inverse] = t.normalized(g.reshape(projection, [-1, a.headDim]), a.headDim, a.rmsEpsilon);
  const normed = g.mul(unit, scale);
  const rotated = rotate(t, geometry, normed, rows, byHead, false);
  return {
    rotated,
    backward(gradient) {
      const dNormed = g.reshape(rotate(t, geometry, gradient, rows, byHead, true), [-1, a.headDim]);
      t.setGradient(scale, g.reduceSum(g.mul(dNormed, unit), [0], false));
      const d = t.normalizeBackward(g.mul(dNormed, scale), unit, inverse);
      t.setGradient(projection, g.reshape(d, [-1, heads * a.headDim]));
    },
  };
}

/** Rotary positions; `inverse` turns back by the same angles, which is the rotation's gradient. */
function rotate(t: Tape, geometry: GeometryInputs, x: Value, rows: Value, byHead: Value, inverse: boolean): Value {
  const g = t.g;
  if (geometry.positions !== undefined) {
    const sin = inverse ? g.op('Neg', [geometry.sin]) : geometry.sin;
    const inputs = [g.reshapeTo(x, rows), geometry.positions, geometry.cos, sin];
    return g.reshapeTo(g.microsoft('RotaryEmbedding', inputs), byHead);
  }
  const [low, high] = g.split(g.reshapeTo(x, byHead), 2, -1);
  const axis = g.constant([1], 'int64');
  const cos = g.op('Unsqueeze', [geometry.cos, axis]);
  const sin = g.op('Unsqueeze', [geometry.sin, axis]);
  const [lowCos, lowSin, highCos, highSin] = [g.mul(low, cos), g.mul(low, sin), g.mul(high, cos), g.mul(high, sin)];
  return inverse
    ? g.concat([g.add(lowCos, highSin), g.sub(highCos, lowSin)], -1)
    : g.concat([g.sub(lowCos, highSin), g.add(highCos, lowSin)], -1);
}
