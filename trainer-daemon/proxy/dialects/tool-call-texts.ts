/**
 * The arguments of tool calls as the planner wrote them. Some dialects hand arguments to the client as objects; when
 * the client sends them back in its history, the prompt must hold the planner's own text again, byte for byte, or it
 * would not be the prompt that continues the transcript.
 */
import { isDeepStrictEqual } from 'node:util';

/** Characters of arguments kept of an episode; the oldest calls go first. */
const MOST_KEPT = 16 * 1024 * 1024;

interface Written {
  /** What the client was handed. */
  value: unknown;
  text: string;
}

export class ToolCallTexts {
  /**
   * By tool call id; only texts that are not the plain JSON of their value. Where a server repeats an id, the value
   * decides, and of equal values the last.
   */
  private readonly written = new Map<string, Written[]>();
  private kept = 0;

  /** Remembers that a call with arguments `text` goes to the client as `value`. */
  remember(id: string, text: string, value: unknown): void {
    if (JSON.stringify(value) === text) return;
    const known = this.written.get(id);
    if (known?.some((each) => each.text === text)) return;
    const written = { value: plain(value), text };
    if (known === undefined) this.written.set(id, [written]);
    else known.push(written);
    this.kept += text.length;
    for (const [oldest, texts] of this.written) {
      if (this.kept <= MOST_KEPT) break;
      for (const each of texts) this.kept -= each.text.length;
      this.written.delete(oldest);
    }
  }

  /** The text of a call that comes back as `value`: the planner's own if the value is still the one handed out. */
  textOf(id: string, value: unknown): string {
    const known = this.written.get(id);
    if (known !== undefined) {
      const asIs = plain(value);
      const found = known.findLast((each) => isDeepStrictEqual(each.value, asIs));
      if (found !== undefined) return found.text;
    }
    return JSON.stringify(value);
  }
}

/** As it looks after a journey through JSON (-0 is 0 then). */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
