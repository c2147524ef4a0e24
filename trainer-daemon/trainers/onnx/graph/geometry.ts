/**
 * The sizes of one run. A session is built for a number of attention chunks; rows and row length are free at run time:
 * everything that depends on them (shapes, slice bounds, paddings, rotary tables, mask) is fed as an input.
 */
import { Tensor } from 'onnxruntime-node';
import type { Architecture } from '../../../planner/architecture.ts';
import type { GraphBuilder, Value } from '../../../planner/onnx/builder.ts';
import { ropeTables } from '../../../planner/onnx/rope.ts';
import type { OperatorSet } from './tape.ts';

/** Query rows of a chunk lie between half of this and this (short rows: one chunk). */
const CHUNK = 256;

export interface RowLength {
  /** Tokens a row, padding included: a multiple of `chunks`. */
  length: number;
  /** Chunks of query rows; a power of two, so that few sessions serve all lengths. */
  chunks: number;
}

/** The padded length for rows of up to `tokens` tokens. */
export function rowLength(tokens: number): RowLength {
  let chunks = 1;
  while (chunks * CHUNK < tokens) chunks *= 2;
  // Multiples of 8 keep the rows of the matrix products whole for the vector units.
  const chunk = Math.ceil(tokens / chunks / 8) * 8;
  return { length: chunk * chunks, chunks };
}

/** Graph inputs of {@link geometryFeeds}; the names are the same. */
export interface GeometryInputs {
  cos: Value;
  sin: Value;
  mask: Value;
  /** [rows, length] positions; fused graphs only. */
  positions?: Value;
  shapes: Record<ShapeName, Value>;
  /** bounds[i] = i * chunk for i = 0 ... chunks. */
  bounds: Value[];
  /** Padding that brings [.., .., .., bounds[i + 1]] to the full length on the last axis; the last chunk needs none. */
  pads: Value[];
}

type ShapeName =
  | 'queryRows'
  | 'keyRows'
  | 'queryHeads'
  | 'keyHeads'
  | 'queryByHead'
  | 'keyByHead'
  | 'grouped'
  | 'chunkMerged'
  | 'chunkGrouped';

function shapeVectors(a: Architecture, { length, chunks }: RowLength): Record<ShapeName, number[]> {
  const group = a.heads / a.kvHeads;
  const chunk = length / chunks;
  return {
    queryRows: [-1, length, a.heads * a.headDim],
    keyRows: [-1, length, a.kvHeads * a.headDim],
    queryHeads: [-1, length, a.heads, a.headDim],
    keyHeads: [-1, length, a.kvHeads, a.headDim],
    queryByHead: [-1, a.heads, length, a.headDim],
    keyByHead: [-1, a.kvHeads, length, a.headDim],
    grouped: [-1, a.kvHeads, group, length, a.headDim],
    chunkMerged: [-1, a.kvHeads, group * chunk, a.headDim],
    chunkGrouped: [-1, a.kvHeads, group, chunk, a.headDim],
  };
}

/** Declares the inputs for a session of the given number of chunks. */
export function declareGeometry(
  g: GraphBuilder,
  a: Architecture,
  chunks: number,
  operators: OperatorSet,
): GeometryInputs {
  const half = a.headDim / 2;
  const shapes = Object.fromEntries(
    Object.entries(shapeVectors(a, { length: chunks, chunks })).map(([name, vector]) => [
      name,
      g.input(`shape.${name}`, [vector.length], 'int64'),
    ]),
  ) as Record<ShapeName, Value>;
  return {
    cos: g.input('cos', ['length', half]),
    sin: g.input('sin', ['length', half]),
    mask: g.input('mask', [1, 1, 'groupedChunk', 'length']),
    positions: operators === 'fused' ? g.input('positions', ['rows', 'length'], 'int64') : undefined,
    shapes,
    bounds: Array.from({ length: chunks + 1 }, (_, i) => g.input(`bound.${i}`, [1], 'int64')),
    pads: Array.from({ length: chunks - 1 }, (_, i) => g.input(`pad.${i}`, [8], 'int64')),
  };
}

/** What {@link declareGeometry} declared, for rows of this length. All but `positions` are independent of the rows. */
export function geometryFeeds(a: Architecture, size: RowLength): Record<string, Tensor> {
  const { length, chunks } = size;
  const chunk = length / chunks;
  const { cos, sin, half } = ropeTables(a, length);
  const vector = (values: number[]) => new Tensor('int64', BigInt64Array.from(values, BigInt), [values.length]);
  const feeds: Record<string, Tensor> = {
    cos: new Tensor('float32', cos, [length, half]),
    sin: new Tensor('float32', sin, [length, half]),
    mask: causalMask(a.heads / a.kvHeads, chunk, length),
  };
  for (const [name, values] of Object.entries(shapeVectors(a, size))) feeds[`shape.${name}`] = vector(values);
  for (let i = 0; i <= chunks; i++) feeds[`bound.${i}`] = vector([i * chunk]);
  for (let i = 0; i < chunks - 1; i++) feeds[`pad.${i}`] = vector([0, 0, 0, 0, 0, 0, 0, length - (i + 1) * chunk]);
  return feeds;
}

/** Positions 0 ... length - 1 of every row. */
export function positionsFeed(rows: number, length: number): Tensor {
  const positions = new BigInt64Array(rows * length);
  for (let p = 0; p < length; p++) positions[p] = BigInt(p);
  for (let r = 1; r < rows; r++) positions.copyWithin(r * length, 0, length);
  return new Tensor('int64', positions, [rows, length]);
}

/**
 * Mask of the last chunk, [1, 1, group * chunk, length]: zeros, then a triangle in the last `chunk` columns. Chunk i
 * takes the last (i + 1) * chunk columns. Padding needs no mask: it stands right of every real token.
 */
function causalMask(group: number, chunk: number, length: number): Tensor {
  const mask = new Float32Array(group * chunk * length);
  for (let h = 0; h < group; h++) {
    for (let i = 0; i < chunk; i++) {
      const row = (h * chunk + i) * length + length - chunk;
      mask.fill(-1e9, row + i + 1, row + chunk);
    }
  }
  return new Tensor('float32', mask, [1, 1, group * chunk, length]);
}
