/** The last part of a text that comes in pieces. */

export const TAIL_LIMIT = 64 * 1024;

export class TextTail {
  private text = '';
  private dropped = 0;

  push(piece: string): void {
    this.text += piece;
    // Cut rarely: not for every piece.
    if (this.text.length > 2 * TAIL_LIMIT) this.cut();
  }

  toString(): string {
    this.cut();
    return this.text;
  }

  /** Characters that are no longer held. */
  get omitted(): number {
    this.cut();
    return this.dropped;
  }

  clear(): void {
    this.text = '';
    this.dropped = 0;
  }

  private cut(): void {
    const excess = this.text.length - TAIL_LIMIT;
    if (excess <= 0) return;
    this.dropped += excess;
    this.text = this.text.slice(excess);
  }
}
