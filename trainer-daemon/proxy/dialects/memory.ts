/** What the dialects keep of an open episode: its planner's tool calls, and which odd fields were told of already. */
import { sha256 } from '../../../protocol/random.ts';
import { ToolCallTexts } from './tool-call-texts.ts';

export class DialectMemory {
  readonly toolCalls = new ToolCallTexts();
  private readonly seen = new Set<string>();
  private replies = 0;

  nextReplyId(episode: string): string {
    return sha256(`${episode} reply ${this.replies++}`).slice(0, 24);
  }

  /**
   * Those of the untranslated fields that no earlier request of the episode had, for the record; null when there is
   * none. Each is told to `notice` once.
   */
  firstSeen(
    untranslated: ReadonlyMap<string, unknown>,
    notice: (text: string) => void,
  ): Record<string, unknown> | null {
    const fresh = [...untranslated].filter(([path]) => !this.seen.has(path));
    if (fresh.length === 0) return null;
    for (const [path] of fresh) {
      this.seen.add(path);
      notice(`the request's field ${path} has no meaning for the planner's server; it is kept in the record only`);
    }
    return Object.fromEntries(fresh);
  }
}
