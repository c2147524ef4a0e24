/**
 * Training of a byte-level BPE vocabulary (Sennrich et al. 2016, on bytes as in GPT-2): count the pieces of the corpus,
 * start from the 256 bytes, and merge the most frequent adjacent pair until the vocabulary is full. Equal counts go to
 * the pair with the smaller ids, so that a corpus has one result.
 */
import { BYTE_CHARACTERS } from '../../protocol/byte-alphabet.ts';

/**
 * How text is cut into pieces that merges never cross: words with one leading space or sign, single digits, runs of
 * signs, single line breaks, runs of blanks. As in Qwen's tokenizer, but a line break always stands alone: what
 * follows a line break is therefore encoded alike whatever was before it.
 */
export const PIECE_PATTERN = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+(?:[-_]\p{L}+)*|\p{N}| ?[^\s\p{L}\p{N}]+|[\r\n]|[^\S\r\n]+(?!\S)|[^\S\r\n]+`;

export interface BpeVocabulary {
  /** Tokens in the byte alphabet, by id: the 256 bytes, then one token a merge. */
  tokens: string[];
  /** Pairs of token ids, in order of training. */
  merges: [number, number][];
}

interface Word {
  ids: number[];
  count: number;
}

const keyOf = (left: number, right: number) => left * 0x200000 + right;

/**
 * @param texts the corpus; a text's share is its length.
 * @param size tokens wanted, at least 256. Fewer come back when the corpus has no pair left to merge.
 */
export function trainBpe(texts: Iterable<string>, size: number): BpeVocabulary {
  const tokens = [...BYTE_CHARACTERS];
  const merges: [number, number][] = [];
  const words = countPieces(texts);
  const counts = new Map<number, number>();
  const places = new Map<number, Set<number>>();
  const queue = new PairQueue();

  const change = (left: number, right: number, by: number, word: number) => {
    const key = keyOf(left, right);
    const count = (counts.get(key) ?? 0) + by;
    counts.set(key, count);
    if (by > 0) {
      const set = places.get(key);
      if (set === undefined) places.set(key, new Set([word]));
      else set.add(word);
    }
    return key;
  };
  words.forEach(({ ids, count }, w) => {
    for (let i = 0; i + 1 < ids.length; i++) change(ids[i], ids[i + 1], count, w);
  });
  for (const [key, count] of counts) queue.push(key, count);

  while (tokens.length < size) {
    const top = queue.pop();
    if (top === undefined) break;
    // The queue also holds counts of earlier moments; only the current one of a pair is true.
    if (top.count !== counts.get(top.key) || top.count <= 0) continue;
    const left = Math.floor(top.key / 0x200000);
    const right = top.key % 0x200000;
    const merged = tokens.length;
    tokens.push(tokens[left] + tokens[right]);
    merges.push([left, right]);
    const touched = new Set<number>();
    for (const w of places.get(top.key) ?? []) {
      const word = words[w];
      const ids = word.ids;
      for (let i = 0; i + 1 < ids.length; i++) {
        if (ids[i] !== left || ids[i + 1] !== right) continue;
        if (i > 0) {
          touched.add(change(ids[i - 1], left, -word.count, w));
          touched.add(change(ids[i - 1], merged, word.count, w));
        }
        if (i + 2 < ids.length) {
          touched.add(change(right, ids[i + 2], -word.count, w));
          touched.add(change(merged, ids[i + 2], word.count, w));
        }
        change(left, right, -word.count, w);
        ids.splice(i, 2, merged);
      }
    }
    counts.delete(top.key);
    places.delete(top.key);
    touched.delete(top.key);
    for (const key of touched) {
      const count = counts.get(key) ?? 0;
      if (count > 0) queue.push(key, count);
      else counts.delete(key);
    }
  }
  return { tokens, merges };
}

function countPieces(texts: Iterable<string>): Word[] {
  const pattern = new RegExp(PIECE_PATTERN, 'gu');
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [piece] of text.matchAll(pattern)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  const encoder = new TextEncoder();
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([piece, count]) => ({ ids: [...encoder.encode(piece)], count }));
}

/** A binary heap of (pair, count): the largest count first, then the smallest pair. */
class PairQueue {
  private readonly keys: number[] = [];
  private readonly counts: number[] = [];

  push(key: number, count: number): void {
    this.keys.push(key);
    this.counts.push(count);
    let i = this.keys.length - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.before(i, parent)) break;
      this.swap(i, parent);
      i = parent;
    }
  }

  pop(): { key: number; count: number } | undefined {
    if (this.keys.length === 0) return undefined;
    const top = { key: this.keys[0], count: this.counts[0] };
    const last = this.keys.length - 1;
    this.swap(0, last);
    this.keys.pop();
    this.counts.pop();
    for (let i = 0; ; ) {
      const left = 2 * i + 1;
      if (left >= last) break;
      const child = left + 1 < last && this.before(left + 1, left) ? left + 1 : left;
      if (!this.before(child, i)) break;
      this.swap(i, child);
      i = child;
    }
    return top;
  }

  private before(a: number, b: number): boolean {
    return this.counts[a] !== this.counts[b] ? this.counts[a] > this.counts[b] : this.keys[a] < this.keys[b];
  }

  private swap(a: number, b: number): void {
    [this.keys[a], this.keys[b]] = [this.keys[b], this.keys[a]];
    [this.counts[a], this.counts[b]] = [this.counts[b], this.counts[a]];
  }
}
