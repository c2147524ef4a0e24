/** Offsets of a text as the lines and columns an editor shows. */
export class LineIndex {
  readonly #starts: number[] = [0];
  readonly #length: number;

  constructor(text: string) {
    this.#length = text.length;
    for (const ending of text.matchAll(/\r\n|\n|\r/g)) this.#starts.push(ending.index + ending[0].length);
  }

  /** Line and column, both from 1, of an offset; columns count UTF-16 units. Offsets outside the text are clamped. */
  position(offset: number): { line: number; column: number } {
    const at = Math.min(Math.max(0, offset), this.#length);
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: at - this.#starts[low] + 1 };
  }

  /** Offset of a line and column, both from 1; columns beyond the line end at its end. */
  offset(line: number, column: number): number {
    if (line < 1) return 0;
    if (line > this.#starts.length) return this.#length;
    const next = this.#starts[line] ?? this.#length + 1;
    return Math.max(this.#starts[line - 1], Math.min(this.#starts[line - 1] + column - 1, next - 1, this.#length));
  }
}
