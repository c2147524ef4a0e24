/** The replies that all open episodes keep for clients that ask again, so that many episodes together stay bounded. */
import type { CallTry, KnownCalls } from './known-calls.ts';

/** Replies that an episode keeps whatever the others do, so that a repeat of what was just answered gets its reply. */
export const ALWAYS_KEPT = 8;
/** Characters of replies kept of all episodes. */
const MOST_KEPT = 16 * 1024 * 1024;

export class KeptReplies {
  /** Oldest first. */
  private readonly calls = new Map<CallTry, { size: number; episode: KnownCalls }>();
  private characters = 0;

  /** Takes note of a reply, and lets the oldest of episodes that keep many go where there are too many. */
  add(call: CallTry, size: number, episode: KnownCalls): void {
    this.calls.set(call, { size, episode });
    this.characters += size;
    for (const [old, { episode: of }] of this.calls) {
      if (this.characters <= MOST_KEPT) break;
      if (of.keptReplies > ALWAYS_KEPT) of.letGo(old);
    }
  }

  delete(call: CallTry): void {
    const kept = this.calls.get(call);
    if (kept === undefined) return;
    this.calls.delete(call);
    this.characters -= kept.size;
  }
}
