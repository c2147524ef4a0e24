/**
 * From a key to the lines that have it, in typed arrays of some 30 bytes a line, where a Map of strings takes many times
 * as much. Keys are kept as 53-bit hashes, so who looks one up must check the line it gets.
 */

/** 53-bit hash of a text: two FNV-1a hashes with different starts over its UTF-8 bytes. */
export function hashKey(text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  return hashBytes(bytes, 0, bytes.length);
}

/** The same of the UTF-8 bytes of a text. */
export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x85ebca6b) ^ (b >>> 13);
  }
  return (a >>> 0) * 0x200000 + ((b >>> 0) & 0x1fffff);
}

/** A growing array of numbers. */
export class NumberList {
  private values: Float64Array = new Float64Array(64);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** Numbers so far, in the memory they are in: what is pushed later may be elsewhere. */
  get view(): Float64Array {
    return this.values.subarray(0, this.length);
  }

  /** Takes numbers in place of what there is, with the memory that they are in. */
  adopt(numbers: Float64Array): void {
    if (numbers.length === 0) return;
    this.values = numbers;
    this.length = numbers.length;
  }

  at(index: number): number {
    return this.values[index];
  }

  set(index: number, value: number): void {
    this.values[index] = value;
  }
}

const NONE = -1;

/** Lines are added in order; for each key the last one is found first, and from it the ones before. */
export class PlaceTable {
  private readonly keys = new NumberList();
  private readonly earlier = new NumberList();
  /** Open addressing: the last line of the key whose hash leads here, plus 1; 0 for an empty slot. */
  private slots = new Int32Array(128);
  private used = 0;

  /** The keys of all lines. */
  get view(): Float64Array {
    return this.keys.view;
  }

  /** Adds lines to a table that has none, with the memory that their keys are in. */
  adopt(keys: Float64Array): void {
    let slots = this.slots.length;
    while (slots < 2 * keys.length) slots *= 2;
    this.slots = new Int32Array(slots);
    this.keys.adopt(keys);
    const earlier = new Float64Array(keys.length);
    for (let line = 0; line < keys.length; line++) earlier[line] = this.link(keys[line], line);
    this.earlier.adopt(earlier);
  }

  /** Adds the next line; NaN when it has no key. */
  add(key: number): void {
    const line = this.keys.length;
    this.keys.push(key);
    this.earlier.push(this.link(key, line));
    if (this.used * 2 > this.slots.length) this.resize(this.slots.length * 2);
  }

  /** Makes a line the last one of its key. @returns the one before. */
  private link(key: number, line: number): number {
    if (Number.isNaN(key)) return NONE;
    const slot = this.slotOf(key);
    const before = this.slots[slot] - 1;
    if (before === NONE) this.used++;
    this.slots[slot] = line + 1;
    return before;
  }

  /** The lines of a key, last first. */
  *lines(key: number): Generator<number> {
    for (let line = this.slots[this.slotOf(key)] - 1; line !== NONE; line = this.earlier.at(line)) yield line;
  }

  private slotOf(key: number): number {
    const mask = this.slots.length - 1;
    let slot = ((key % 0x100000000) ^ (key / 0x100000000)) & mask;
    while (this.slots[slot] !== 0 && this.keys.at(this.slots[slot] - 1) !== key) slot = (slot + 1) & mask;
    return slot;
  }

  private resize(slots: number): void {
    const old = this.slots;
    this.slots = new Int32Array(slots);
    for (const entry of old) if (entry !== 0) this.slots[this.slotOf(this.keys.at(entry - 1))] = entry;
  }
}
