/**
 * The arguments of tool calls as the planner wrote them. Some dialects hand arguments to the client as objects; when
 * the client sends them back in its history, the prompt must hold the planner's own text again, byte for byte, or it
 * would not be the prompt that continues the transcript.
 */
import { isDeepStrictEqual } from 'node:util';

export class ToolCallTexts {
  /** Texts by tool call id, where they differ from plain JSON of the parsed value; ids may repeat. */
  private readonly texts = new Map<string, string[]>();

  /** Remembers a call that goes to the client as an object. */
  remember(id: string, text: string): void {
    const value = parsed(text);
    if (value === undefined || JSON.stringify(value) === text) return;
    const known = this.texts.get(id);
    if (known === undefined) this.texts.set(id, [text]);
    else if (!known.includes(text)) known.push(text);
  }

  /** The text of a call that comes back as `value`: the planner's own if the value is still what it wrote. */
  textOf(id: string, value: unknown): string {
    const known = this.texts.get(id) ?? [];
    return known.findLast((text) => isDeepStrictEqual(parsed(text), value)) ?? JSON.stringify(value);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
