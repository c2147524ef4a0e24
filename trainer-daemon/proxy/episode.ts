/** One open episode of the proxy: admits calls in arrival order, finds repeated requests, counts, ends. */
import { callId } from '../../protocol/ids.ts';
import { type ApiError, apiError } from './api-error.ts';
import { type CallResult, type ClientReply, closedError, runCall } from './call.ts';
import type { EpisodeOpening, ProxyEpisode, RecordedCall } from './contract.ts';
import type { CallInDialect } from './dialects/contract.ts';
import type { KeptReplies } from './kept-replies.ts';
import { type CallTry, KnownCalls, type Outcome, type RepeatMarks } from './known-calls.ts';
import type { LargeText } from './large-texts.ts';

export interface IncomingCall extends RepeatMarks {
  /** In the chat form. */
  request: Record<string, unknown>;
  /** Large texts of the request as it came. */
  texts: readonly LargeText[];
  inDialect: CallInDialect;
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

export type Answer =
  /** `delivered` is to be called when the client has all of the reply. */
  { reply: ClientReply; forwarded: number; delivered(): void } | { error: ApiError };

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
  private readonly inHand = new Set<CallTry>();
  private readonly known: KnownCalls;
  private readonly onClosed: (episode: OpenEpisode) => void;

  constructor(
    opening: EpisodeOpening,
    key: string,
    baseUrl: string,
    replies: KeptReplies,
    onClosed: (episode: OpenEpisode) => void,
  ) {
    this.known = new KnownCalls(replies);
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
      const earlier = this.known.find(incoming);
      // A try that failed goes upstream anew; one in flight may still, and then it is looked for again.
      if (earlier === undefined || earlier.outcome?.ok === false) return this.start(incoming, client, earlier);
      earlier.repeats++;
      const outcome = await this.waitFor(earlier, client);
      if (outcome.ok) return answerOf(earlier, outcome, 0);
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
    for (const call of open) call.abort?.abort();
    await Promise.all(open.map((call) => call.settled));
    this.known.clear();
    this.onClosed(this);
  }

  private async start(incoming: IncomingCall, client: WaitingClient, failed: CallTry | undefined): Promise<Answer> {
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
        retryOf: failed?.outcome?.ok === false && failed.outcome.recorded ? failed.id : null,
        request: incoming.request,
        texts: incoming.texts,
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
    ).then((result) => this.settle(call, result));
    const call: CallTry = {
      id,
      turn,
      resend,
      bodyHash: incoming.bodyHash,
      idempotencyKey: incoming.idempotencyKey,
      waiting: 0,
      repeats: 0,
      delivered: false,
      abort,
      concurrent: this.inHand.size > 0,
      outcome: undefined,
      settled,
    };
    for (const other of this.inHand) other.concurrent = true;
    this.inHand.add(call);
    this.known.add(call, failed);
    const outcome = await this.waitFor(call, client);
    return outcome.ok ? answerOf(call, outcome, forwarded) : { error: outcome.error };
  }

  private settle(call: CallTry, result: CallResult): Outcome {
    // Without the request: images of many calls would add up.
    const outcome: Outcome = result.ok
      ? { ok: true, reply: result.reply }
      : { ok: false, recorded: result.recorded, error: result.error };
    call.outcome = outcome;
    call.abort = undefined;
    if (outcome.ok) this.known.keep(call);
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
    return outcome;
  }

  /** The upstream is let go when the last client that waits for it has hung up. */
  private async waitFor(call: CallTry, client: WaitingClient): Promise<Outcome> {
    call.waiting++;
    const leave = () => {
      call.waiting--;
      if (call.waiting === 0 && call.outcome === undefined) call.abort?.abort();
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

function answerOf(call: CallTry, { reply }: Extract<Outcome, { ok: true }>, forwarded: number): Answer {
  if (reply === undefined)
    return {
      error: apiError(
        409,
        'reply_not_kept',
        `this request was answered and recorded as turn ${call.turn}; its reply is older than those that are kept to be given again`,
        { retry: false },
      ),
    };
  return {
    reply,
    forwarded,
    delivered: () => {
      call.delivered = true;
    },
  };
}
