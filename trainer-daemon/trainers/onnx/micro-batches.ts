/** Rows packed into micro-batches of bounded size: rows of similar length together, padded on the right. */
import { type RowLength, rowLength } from './graph/geometry.ts';
import type { Row } from './rows.ts';

export interface MicroBatchLimits {
  /** Padded tokens; a single longer row still makes a micro-batch. */
  tokens: number;
  /** Target tokens: bounds the logits [targets, vocabulary]. A row with more appears in several micro-batches. */
  targets: number;
}

/** Where each target token comes from. Arrays have one entry a target. */
export interface Targets {
  item: Int32Array;
  /** Index in the item's response. */
  index: Int32Array;
  /** Place in the micro-batch's tokens whose output predicts the target: one before the target itself. */
  position: Int32Array;
  id: Int32Array;
}

export interface MicroBatch {
  rows: number;
  size: RowLength;
  /** [rows, length], padded with token 0. */
  ids: Int32Array;
  /** Real tokens of each row. */
  used: Int32Array;
  targets: Targets;
}

/** A row shorter than this share of the micro-batch's longest costs more as padding than as a micro-batch of its own. */
const LEAST_FILL = 0.75;

interface Piece {
  row: Row;
  /** Tokens that have to be computed: up to the one that predicts the last target. */
  used: number;
  targets: { item: number; index: number; place: number }[];
}

/** Packs all targets of all rows, each once. Longest rows first. */
export function packMicroBatches(rows: readonly Row[], limits: MicroBatchLimits): MicroBatch[] {
  const pieces = rows.flatMap((row) => splitTargets(row, limits.targets)).sort((x, y) => y.used - x.used);
  const batches: MicroBatch[] = [];
  for (let i = 0; i < pieces.length; ) {
    const size = rowLength(pieces[i].used);
    const taken: Piece[] = [];
    let targets = 0;
    while (i < pieces.length && (taken.length === 0 || fits(taken.length, targets, pieces[i]))) {
      taken.push(pieces[i]);
      targets += pieces[i++].targets.length;
    }
    batches.push(microBatch(taken, size));

    function fits(rows: number, targets: number, piece: Piece): boolean {
      // A much shorter row goes into a micro-batch of its own length.
      return (
        piece.used >= LEAST_FILL * size.length &&
        (rows + 1) * size.length <= limits.tokens &&
        targets + piece.targets.length <= limits.targets
      );
    }
  }
  return batches;
}

function splitTargets(row: Row, most: number): Piece[] {
  const targets = row.spans.flatMap((span) =>
    Array.from({ length: span.length }, (_, index) => ({ item: span.item, index, place: span.start + index })),
  );
  const pieces: Piece[] = [];
  for (let i = 0; i < targets.length; i += most) {
    const part = targets.slice(i, i + most);
    pieces.push({ row, used: part[part.length - 1].place, targets: part });
  }
  return pieces;
}

function microBatch(pieces: Piece[], size: RowLength): MicroBatch {
  const count = pieces.reduce((n, p) => n + p.targets.length, 0);
  const ids = new Int32Array(pieces.length * size.length);
  const targets: Targets = {
    item: new Int32Array(count),
    index: new Int32Array(count),
    position: new Int32Array(count),
    id: new Int32Array(count),
  };
  let n = 0;
  pieces.forEach(({ row, used, targets: own }, r) => {
    ids.set(row.tokens.subarray(0, used), r * size.length);
    for (const { item, index, place } of own) {
      targets.item[n] = item;
      targets.index[n] = index;
      targets.position[n] = r * size.length + place - 1;
      targets.id[n++] = row.tokens[place];
    }
  });
  return { rows: pieces.length, size, ids, used: Int32Array.from(pieces, (p) => p.used), targets };
}
