/**
 * Which call a request repeats. Clients mark a repeat by an idempotency key or by counting it; only the first names its
 * call. A counted repeat goes by its body, and there several identical calls may be waiting for theirs.
 */
import type { ApiError } from './api-error.ts';
import type { ClientReply } from './call.ts';
import { ALWAYS_KEPT, type KeptReplies } from './kept-replies.ts';

/** Characters of replies kept of an episode for clients that ask again; the newest few are kept whatever their size. */
const MOST_KEPT = 8 * 1024 * 1024;

export type Outcome =
  /** The reply is let go when many newer ones came after it. */
  | { ok: true; reply: ClientReply | undefined }
  /** `recorded` is false when the call was lost. */
  | { ok: false; recorded: boolean; error: ApiError };

/** The latest try of a call, in flight or over. */
export interface CallTry {
  id: string;
  turn: number;
  /** How many tries there were before. */
  resend: number;
  bodyHash: string;
  idempotencyKey: string | undefined;
  /** Clients that wait for it now. */
  waiting: number;
  /** Requests that were taken for repeats of this try. */
  repeats: number;
  /** A client has got the whole reply. */
  delivered: boolean;
  /** Gone when the try is over. */
  abort: AbortController | undefined;
  concurrent: boolean;
  outcome: Outcome | undefined;
  settled: Promise<Outcome>;
}

export interface RepeatMarks {
  bodyHash: string;
  idempotencyKey: string | undefined;
  /** Which repeat the client says it is; 0 for a request that is none. */
  retry: number;
}

export class KnownCalls {
  private readonly byBody = new Map<string, CallTry[]>();
  private readonly byKey = new Map<string, CallTry>();
  /** Tries with a reply that is kept, oldest first. */
  private readonly kept = new Set<CallTry>();
  private keptCharacters = 0;
  private readonly replies: KeptReplies;

  /** @param replies those of all episodes, which are bounded together as well. */
  constructor(replies: KeptReplies) {
    this.replies = replies;
  }

  /** How many replies are kept. */
  get keptReplies(): number {
    return this.kept.size;
  }

  /** @param failed the try before, which this one replaces. */
  add(call: CallTry, failed: CallTry | undefined): void {
    const same = this.byBody.get(call.bodyHash);
    if (same === undefined) this.byBody.set(call.bodyHash, [call]);
    else {
      const at = failed === undefined ? -1 : same.indexOf(failed);
      if (at < 0) same.push(call);
      else same[at] = call;
    }
    if (call.idempotencyKey !== undefined) this.byKey.set(call.idempotencyKey, call);
  }

  /** Takes note of a reply, and lets the oldest go where there are too many. */
  keep(call: CallTry): void {
    const size = sizeOf(call);
    this.kept.add(call);
    this.keptCharacters += size;
    for (const old of this.kept) {
      if (this.keptCharacters <= MOST_KEPT || this.kept.size <= ALWAYS_KEPT) break;
      this.letGo(old);
    }
    this.replies.add(call, size, this);
  }

  /** Keeps the reply of a call no longer; the call stays known. */
  letGo(call: CallTry): void {
    if (!this.kept.delete(call)) return;
    this.keptCharacters -= sizeOf(call);
    this.replies.delete(call);
    if (call.outcome?.ok) call.outcome.reply = undefined;
  }

  clear(): void {
    for (const call of this.kept) this.replies.delete(call);
    this.byBody.clear();
    this.byKey.clear();
    this.kept.clear();
  }

  /** @returns the try that the request repeats; undefined for a request that is a call of its own. */
  find({ bodyHash, idempotencyKey, retry }: RepeatMarks): CallTry | undefined {
    if (idempotencyKey !== undefined) {
      const known = this.byKey.get(idempotencyKey);
      // A key that comes with another body names another request.
      if (known?.bodyHash === bodyHash) return known;
    }
    if (retry === 0) return undefined;
    let best: CallTry | undefined;
    for (const call of this.byBody.get(bodyHash) ?? []) {
      if (idempotencyKey !== undefined && call.idempotencyKey !== undefined) continue;
      if (best === undefined || before(rank(call, retry), rank(best, retry))) best = call;
    }
    return best;
  }
}

/**
 * How likely a counted repeat belongs to a try; the smaller the likelier, and of equals the later one.
 * A reply that reached nobody comes first, then a failure, then one whose client may have hung up unnoticed so far.
 */
function rank(call: CallTry, retry: number): number[] {
  const otherCount = call.resend === retry - 1 ? 0 : 1;
  if (call.outcome === undefined) return call.waiting === 0 ? [0, otherCount, 0] : [2, otherCount, call.waiting];
  if (!call.outcome.ok) return [1, otherCount, 0];
  return call.delivered ? [3, call.repeats, otherCount] : [0, otherCount, call.repeats];
}

/** Whether `a` is at most `b`, place by place. */
function before(a: number[], b: number[]): boolean {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 || a[at] < b[at];
}

function sizeOf({ outcome }: CallTry): number {
  if (!outcome?.ok || outcome.reply === undefined) return 0;
  if ('json' in outcome.reply) return outcome.reply.json.length;
  return outcome.reply.events.reduce((sum, event) => sum + event.length, 0);
}
