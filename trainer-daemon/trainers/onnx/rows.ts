/**
 * Sequences that share a prefix are computed once: when prompt + response of one turn is how a later turn's tokens
 * begin (an episode's history only grows), both are read from one row, each with its own supervised span. Attention is
 * causal, so every supervised token sees exactly the context it would see in a row of its own.
 */
import type { TrainingSequence } from '../contract.ts';

/** Supervised tokens of one item inside a row. */
export interface Span {
  item: number;
  /** Place of the first response token in the row. */
  start: number;
  length: number;
}

export interface Row {
  tokens: Int32Array;
  /** In order of `start`, disjoint. */
  spans: Span[];
}

/** One row for each sequence that is no prefix of another. The result depends on the sequences and their order alone. */
export function mergeIntoRows(sequences: readonly TrainingSequence[]): Row[] {
  const items = sequences.map((sequence, item) => {
    const tokens = new Int32Array(sequence.promptTokenIds.length + sequence.responseTokenIds.length);
    tokens.set(sequence.promptTokenIds);
    tokens.set(sequence.responseTokenIds, sequence.promptTokenIds.length);
    const span = { item, start: sequence.promptTokenIds.length, length: sequence.responseTokenIds.length };
    return { tokens, span };
  });
  // In lexicographic order a prefix of any later sequence is a prefix of the next one.
  const sorted = [...items].sort((x, y) => compare(x.tokens, y.tokens) || x.span.item - y.span.item);
  const rows: Row[] = [];
  let next: Row | undefined;
  for (let i = sorted.length - 1; i >= 0; i--) {
    const { tokens, span } = sorted[i];
    if (next !== undefined && startsWith(next.tokens, tokens) && !overlaps(next, span)) {
      next.spans.push(span);
    } else {
      next = { tokens, spans: [span] };
      rows.push(next);
    }
  }
  for (const row of rows) row.spans.sort((x, y) => x.start - y.start);
  return rows.sort((x, y) => firstItem(x) - firstItem(y));
}

/**
 * Rows in which all tokens are supervised but the first, which nothing predicts.
 * @param rows of {@link mergeIntoRows}.
 * @param items how many items the rows hold; what the responses answer is numbered from there on.
 * @returns the rows, and what the responses answer as sequences of their own.
 */
export function withPrompts(rows: readonly Row[], items: number): { rows: Row[]; prompts: TrainingSequence[] } {
  const prompts: TrainingSequence[] = [];
  const whole = rows.map(({ tokens, spans }) => {
    const all: Span[] = [];
    let begin = 1;
    for (const span of spans) {
      if (span.start > begin) {
        all.push({ item: items + prompts.length, start: begin, length: span.start - begin });
        prompts.push({
          promptTokenIds: tokens.subarray(0, begin),
          responseTokenIds: tokens.subarray(begin, span.start),
        });
      }
      all.push(span);
      begin = span.start + span.length;
    }
    return { tokens, spans: all };
  });
  return { rows: whole, prompts };
}

/** Each sequence in a row of its own. */
export function separateRows(sequences: readonly TrainingSequence[]): Row[] {
  return sequences.flatMap((sequence, item) => {
    const [row] = mergeIntoRows([sequence]);
    return [{ ...row, spans: row.spans.map((span) => ({ ...span, item })) }];
  });
}

function firstItem(row: Row): number {
  return Math.min(...row.spans.map((s) => s.item));
}

function compare(x: Int32Array, y: Int32Array): number {
  const shared = Math.min(x.length, y.length);
  for (let i = 0; i < shared; i++) if (x[i] !== y[i]) return x[i] - y[i];
  return x.length - y.length;
}

function startsWith(x: Int32Array, prefix: Int32Array): boolean {
  if (prefix.length > x.length) return false;
  for (let i = 0; i < prefix.length; i++) if (x[i] !== prefix[i]) return false;
  return true;
}

function overlaps(row: Row, span: Span): boolean {
  return row.spans.some((s) => span.start < s.start + s.length && s.start < span.start + span.length);
}
