/** One open episode of the proxy: admits calls in arrival order, finds repeated requests, counts, ends. */
import { callId } from '../../protocol/ids.ts';
import { type ApiError, apiError } from './api-error.ts';
import { type CallResult, type ClientReply, closedError, runCall } from './call.ts';
import type { EpisodeOpening, ProxyEpisode, RecordedCall } from './contract.ts';
import type { CallInDialect } from './dialects/contract.ts';

/** Whole replies are kept for this many calls, to answer a client that asks again. */
const REPLIES_KEPT = 64;

export interface IncomingCall {
  /** In the chat form. */
  request: Record<string, unknown>;
  inDialect: CallInDialect;
  bodyHash: string;
  idempotencyKey: string | undefined;
  /** The client says that it sends this request again. */
  marked: boolean;
}

/** A client that waits for a call. */
export interface WaitingClient {
  /** Fires when the client hangs up. */
  gone: AbortSignal;
  /** An event of a streamed reply, as it comes; not called for a client that joined later. */
  forward(event: string): void;
  /** A streamed reply begins later than usual: show that the call lives. */
  heartbeat?(): void;
}

export type Answer = { reply: ClientReply; forwarded: number } | { error: ApiError };

interface CallInHand {
  id: string;
  turn: number;
  resend: number;
  bodyHash: string;
  waiting: number;
  abort: AbortController;
  finished: boolean;
  concurrent: boolean;
  settled: Promise<CallResult>;
}

export class OpenEpisode implements ProxyEpisode {
  readonly id: string;
  readonly key: string;
  readonly baseUrl: string;
  readonly opening: EpisodeOpening;
  calls: RecordedCall[] = [];
  lastActivity = performance.now();
  inFlight = 0;
  turnLimitReached = false;
  contextLimitReached = false;
  lostCalls = 0;
  closed = false;
  onChange?: () => void;
  private nextTurn = 0;
  /** Calls answered or being answered; failed ones are taken off again. */
  private admitted = 0;
  private closing: Promise<void> | undefined;
  private closedAs: 'limit' | 'aborted' = 'aborted';
  private readonly inHand = new Set<CallInHand>();
  private readonly byBody = new Map<string, CallInHand>();
  private readonly byIdempotencyKey = new Map<string, CallInHand>();
  private readonly onClosed: (episode: OpenEpisode) => void;

  constructor(opening: EpisodeOpening, key: string, baseUrl: string, onClosed: (episode: OpenEpisode) => void) {
    this.opening = opening;
    this.id = opening.id;
    this.key = key;
    this.baseUrl = baseUrl;
    this.onClosed = onClosed;
  }

  get untrainable(): string | null {
    if (this.lostCalls > 0) return `${this.lostCalls} of its calls could not be recorded`;
    for (const call of this.calls) {
      if (call.status === 'complete') {
        if (call.untrainable) return `turn ${call.turn}: ${call.untrainable}`;
      } else if (
        call.status !== 'limit' &&
        !this.calls.some((other) => other.turn === call.turn && other.status === 'complete')
      ) {
        return `turn ${call.turn} failed (${call.status}) and no repeat of it completed`;
      }
    }
    return null;
  }

  touch(): void {
    this.lastActivity = performance.now();
  }

  /** Answers one request; resolves when its record is durable. */
  async answer(incoming: IncomingCall, client: WaitingClient): Promise<Answer> {
    for (;;) {
      if (this.closed) return { error: closedError() };
      const earlier = this.earlier(incoming);
      if (!earlier) return this.start(incoming, client);
      const result = await this.waitFor(earlier, client);
      if (result.ok) return { reply: result.reply, forwarded: 0 };
      // The first try failed, so this one goes upstream anew, unless another repeat has already done so.
      if (this.closed) return { error: closedError() };
      if (this.earlier(incoming) === earlier) return this.start(incoming, client, earlier, result);
    }
  }

  async close(reason: 'done' | 'limit' | 'cancelled'): Promise<void> {
    this.closing ??= this.end(reason);
    await this.closing;
  }

  private async end(reason: 'done' | 'limit' | 'cancelled'): Promise<void> {
    this.closed = true;
    this.closedAs = reason === 'limit' ? 'limit' : 'aborted';
    const open = [...this.inHand];
    for (const call of open) call.abort.abort();
    await Promise.all(open.map((call) => call.settled));
    this.byBody.clear();
    this.byIdempotencyKey.clear();
    this.onClosed(this);
  }

  private earlier(incoming: IncomingCall): CallInHand | undefined {
    if (incoming.idempotencyKey !== undefined) {
      const known = this.byIdempotencyKey.get(incoming.idempotencyKey);
      // A key that comes with another body names another request.
      if (known?.bodyHash === incoming.bodyHash) return known;
    }
    return incoming.marked ? this.byBody.get(incoming.bodyHash) : undefined;
  }

  private async start(
    incoming: IncomingCall,
    client: WaitingClient,
    failed?: CallInHand,
    failure?: Extract<CallResult, { ok: false }>,
  ): Promise<Answer> {
    if (this.admitted >= this.opening.turns) {
      this.turnLimitReached = true;
      this.onChange?.();
      return {
        error: apiError(400, 'turn_limit', `the episode's limit of ${this.opening.turns} planner calls is reached`, {
          retry: false,
        }),
      };
    }
    this.admitted++;
    const turn = failed ? failed.turn : this.nextTurn++;
    const resend = failed ? failed.resend + 1 : 0;
    const abort = new AbortController();
    const id = callId(this.id, turn, resend);
    let forwarded = 0;
    this.inFlight++;
    const settled = runCall(
      {
        id,
        turn,
        // A lost call left no record to point at.
        retryOf: failed && failure?.recorded ? failed.id : null,
        request: incoming.request,
        inDialect: incoming.inDialect,
        opening: this.opening,
      },
      {
        signal: abort.signal,
        abortedAs: () => (this.closed ? this.closedAs : 'aborted'),
        onActivity: () => this.touch(),
        concurrent: () => call.concurrent,
        heartbeat: () => {
          this.touch();
          client.heartbeat?.();
        },
        forward: (event) => {
          forwarded++;
          client.forward(event);
        },
        record: (call) => this.opening.sink.appendCall(call),
      },
    ).then((result) => {
      this.settle(call, result);
      return result;
    });
    const call: CallInHand = {
      id,
      turn,
      resend,
      bodyHash: incoming.bodyHash,
      waiting: 0,
      abort,
      finished: false,
      concurrent: this.inHand.size > 0,
      settled,
    };
    for (const other of this.inHand) other.concurrent = true;
    this.remember(call, incoming);
    const result = await this.waitFor(call, client);
    return result.ok ? { reply: result.reply, forwarded } : { error: result.error };
  }

  private settle(call: CallInHand, result: CallResult): void {
    call.finished = true;
    this.inFlight--;
    this.inHand.delete(call);
    this.touch();
    if (!result.ok) {
      this.admitted--;
      if (result.contextLimit) this.contextLimitReached = true;
    }
    if (result.ok || result.recorded) {
      const { id, turn, status, finishReason, response, policyVersion, retryOf, untrainable, concurrent } = result.call;
      const kept = { id, turn, status, finishReason, response, policyVersion, retryOf, untrainable, concurrent };
      // In turn order; nearly always the last place.
      let at = this.calls.length;
      while (at > 0 && this.calls[at - 1].turn > turn) at--;
      this.calls.splice(at, 0, kept);
    } else {
      this.lostCalls++;
    }
    this.onChange?.();
  }

  private remember(call: CallInHand, incoming: IncomingCall): void {
    this.inHand.add(call);
    this.byBody.delete(call.bodyHash);
    this.byBody.set(call.bodyHash, call);
    if (incoming.idempotencyKey !== undefined) this.byIdempotencyKey.set(incoming.idempotencyKey, call);
    for (const known of [this.byBody, this.byIdempotencyKey]) {
      for (const [key, old] of known) {
        if (known.size <= REPLIES_KEPT) break;
        if (old.finished) known.delete(key);
      }
    }
  }

  /** The upstream is let go when the last client that waits for it has hung up. */
  private async waitFor(call: CallInHand, client: WaitingClient): Promise<CallResult> {
    call.waiting++;
    const leave = () => {
      call.waiting--;
      if (call.waiting === 0 && !call.finished) call.abort.abort();
    };
    if (client.gone.aborted) leave();
    else client.gone.addEventListener('abort', leave, { once: true });
    try {
      return await call.settled;
    } finally {
      client.gone.removeEventListener('abort', leave);
    }
  }
}
