/** What the dialects keep of an open episode: its planner's tool calls, and which odd fields were told of already. */
import { sha256 } from '../../../protocol/random.ts';
import type { Untranslated } from './request-part.ts';
import { ToolCallTexts } from './tool-call-texts.ts';

/** An episode whose fields are all new in every request is told of no further ones. */
const MOST_SEEN = 2000;

export class DialectMemory {
  readonly toolCalls = new ToolCallTexts();
  private readonly seen = new Set<string>();
  private replies = 0;

  nextReplyId(episode: string): string {
    return sha256(`${episode} reply ${this.replies++}`).slice(0, 24);
  }

  /** Fields of replies that are not known are told to `notice` once an episode. */
  tellOfReply(paths: readonly string[], notice: (text: string) => void): void {
    for (const path of paths) {
      const seen = `reply ${path}`;
      if (this.seen.has(seen) || this.seen.size >= MOST_SEEN) continue;
      this.seen.add(seen);
      notice(
        `the reply's "${path}" is not known here; it is recorded, and clients of Chat Completions get it as it came, others do not`,
      );
    }
  }

  /**
   * The untranslated fields for the record: those at the top of the request each time, those inside of it (requests
   * repeat what came before) when they are new to the episode. Null when there is none. Notable ones are told to
   * `notice` once an episode.
   */
  forRecord(
    { fields, notable, passedOn }: Untranslated,
    notice: (text: string) => void,
  ): Record<string, unknown> | null {
    for (const path of passedOn) {
      if (this.seen.has(path) || this.seen.size >= MOST_SEEN) continue;
      this.seen.add(path);
      notice(
        `the request's "${path}" is not known here; it is recorded and sent on to the planner's server as it came`,
      );
    }
    const fresh = [...fields].filter(([path]) => !/[.[]/.test(path) || !this.seen.has(path));
    if (fresh.length === 0) return null;
    for (const [path] of fresh) {
      if (this.seen.has(path) || this.seen.size >= MOST_SEEN) continue;
      this.seen.add(path);
      if (notable.has(path))
        notice(`the request's "${path}" has no counterpart at the planner's server; it is kept in the record only`);
    }
    return Object.fromEntries(fresh);
  }
}
