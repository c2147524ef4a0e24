/** One planner call: sent on, read, recorded; only then is its end handed to the harness. */
import type { Message, Tool } from '../../protocol/chat.ts';
import { seedOf } from '../../protocol/random.ts';
import type { ResolvedCall } from '../../protocol/records.ts';
import { type ApiError, apiError, excerpt } from './api-error.ts';
import { CompletionCollector, errorMessage, ReplyError, removeCapture } from './completion.ts';
import type { EpisodeOpening, Upstream } from './contract.ts';
import type { CallInDialect, ClientStream } from './dialects/contract.ts';
import { EventStreamReader } from './event-stream.ts';
import { NotHeld } from './policy-gate.ts';
import { type BoundaryRequest, enforceSampling } from './sampling.ts';
import { captureProblem } from './trainability.ts';
import { serverRoot } from './upstreams/create.ts';
import { askJson, postJson, readBody, type UpstreamReply } from './upstreams/request.ts';
import { record } from './upstreams/shapes.ts';
import { wholeAsChunks } from './whole-as-stream.ts';

const LARGEST_REPLY = 64 * 1024 * 1024;
const LARGEST_ERROR = 256 * 1024;
/** A reply that is not streamed may need this long for tens of thousands of tokens. */
const SILENCE_SECONDS = 1800;
const HEARTBEAT_SECONDS = 15;

export interface CallSetup {
  id: string;
  turn: number;
  retryOf: string | null;
  /** The request in the chat form. */
  request: Record<string, unknown>;
  inDialect: CallInDialect;
  opening: EpisodeOpening;
}

export interface CallHooks {
  /** Fires when nobody waits for the reply any more or the episode is closed. */
  signal: AbortSignal;
  /** What the call is recorded as when the signal fires. */
  abortedAs(): 'limit' | 'aborted';
  onActivity(): void;
  /** Whether another call of the episode was in flight at any time while this one was. */
  concurrent(): boolean;
  /** A streamed reply begins later than usual: the client is to be shown that the call lives. */
  heartbeat?(): void;
  /** An event of a streamed reply, for the client at once. The finish chunk and what follows is not told here. */
  forward(event: string): void;
  /** Makes the record durable. @throws when it cannot. */
  record(call: ResolvedCall): Promise<void>;
}

/** The reply as the client gets it: one JSON text, or all events of its stream. */
export type ClientReply = { json: string } | { events: string[] };

export type CallResult =
  | { ok: true; call: ResolvedCall; reply: ClientReply }
  /** `recorded` is false when the call was lost. */
  | { ok: false; call: ResolvedCall; recorded: boolean; contextLimit: boolean; error: ApiError };

/** A failure on the upstream's side. */
class UpstreamFailure extends Error {
  readonly status: number;
  readonly body: string | undefined;
  readonly contextLimit: boolean;

  constructor(message: string, status = 502, body?: string, contextLimit = false) {
    super(message);
    this.status = status;
    this.body = body;
    this.contextLimit = contextLimit;
  }
}

/** Runs a call to its end. Never throws: every failure is a result. */
export async function runCall(setup: CallSetup, hooks: CallHooks): Promise<CallResult> {
  const { opening } = setup;
  const { upstream } = opening;
  const { dialect, context, untranslated } = setup.inDialect;
  const boundary = enforceSampling(setup.request, opening, seedOf(setup.id));
  const wantsStream = setup.request.stream === true;
  const collector = new CompletionCollector(upstream.client);
  const silence = new SilenceWatch(opening.silenceSeconds ?? SILENCE_SECONDS, hooks.signal);
  const heartbeat = wantsStream
    ? setInterval(() => hooks.heartbeat?.(), (opening.heartbeatSeconds ?? HEARTBEAT_SECONDS) * 1000)
    : undefined;
  let policyVersion = upstream.policyVersion();
  let startedAt = new Date();
  let started = performance.now();
  let firstToken: number | null = null;
  let reply: ClientReply | undefined;
  let failure: UpstreamFailure | undefined;
  let status: ResolvedCall['status'] = 'complete';
  let leave = () => {};
  try {
    leave = (await upstream.gate?.enter(hooks.signal)) ?? leave;
    // Stamped as the call goes out: what waited for new weights is answered by them.
    policyVersion = upstream.policyVersion();
    startedAt = new Date();
    started = performance.now();
    silence.start();
    const prompt =
      dialect.endpoint === '/chat/completions' ? promptOf(boundary.body, upstream, silence.signal) : undefined;
    if (boundary.streamed) clearInterval(heartbeat);
    const answer = await postJson(
      upstream.url + dialect.endpoint,
      JSON.stringify(dialect.toUpstream?.(boundary.body) ?? boundary.body),
      upstream.apiKey,
      silence.signal,
    );
    const onBytes = () => {
      firstToken ??= performance.now() - started;
      silence.restart();
      hooks.onActivity();
    };
    silence.restart();
    hooks.onActivity();
    if (answer.status !== 200) throw await refusal(answer, onBytes);
    const checkVersion = () => {
      const told = collector.policyVersion;
      if (told !== undefined && policyVersion !== null && told !== policyVersion)
        throw new UpstreamFailure(
          `the policy changed under the call: sent to version ${policyVersion}, answered by version ${told}`,
        );
    };
    if (boundary.streamed) {
      reply = { events: await readStream(answer, collector, boundary, setup, onBytes, checkVersion, hooks.forward) };
    } else {
      const whole = record(await readWhole(answer, collector, boundary, setup, onBytes));
      reply = wantsStream
        ? { events: eventsOf(whole, boundary.wishes.usage, dialect.stream(context)) }
        : { json: dialect.reply(whole, context) };
    }
    checkVersion();
    await addPrompt(collector, prompt);
    collector.completion();
  } catch (error) {
    reply = undefined;
    if (hooks.signal.aborted) {
      status = hooks.abortedAs();
    } else if (silence.broken) {
      failure = new UpstreamFailure(`nothing came from it for ${silence.seconds} s`, 504);
      status = 'timeout';
    } else {
      failure = error instanceof UpstreamFailure ? error : new UpstreamFailure(describe(error));
      if (error instanceof NotHeld) failure = new UpstreamFailure(error.message, 503);
      status = failure.contextLimit ? 'limit' : 'upstream-error';
    }
  } finally {
    clearInterval(heartbeat);
    silence.stop();
    leave();
  }

  const { completion, malformed } = completionOf(collector);
  const { messages, tools, ...other } = setup.request;
  const notes = [failure?.message, malformed, ...(completion?.notes ?? [])].filter((note) => note !== undefined);
  const untrainable = status === 'complete' && completion ? captureProblem(completion, upstream.client) : null;
  const call: ResolvedCall = {
    id: setup.id,
    episode: opening.id,
    turn: setup.turn,
    surface: dialect.surface,
    policyVersion,
    request: {
      messages: messages as Message[],
      tools: (tools as Tool[] | null | undefined) ?? null,
      other: untranslated ? { ...other, untranslated } : other,
    },
    samplingAsked: boundary.asked,
    samplingSent: boundary.sent,
    promptTokenIds: completion?.promptTokenIds ?? null,
    responseTokenIds: completion?.responseTokenIds ?? null,
    logprobs: completion?.logprobs ?? null,
    response: completion?.response ?? null,
    finishReason: completion?.finishReason ?? null,
    usage: completion?.usage ?? null,
    startedAt: startedAt.toISOString(),
    durations: { firstToken, total: performance.now() - started },
    status,
    error: notes.length > 0 ? excerpt([...new Set(notes)].join('; '), 2000) : null,
    retryOf: setup.retryOf,
    ...(untrainable === null ? {} : { untrainable }),
    ...(hooks.concurrent() ? { concurrent: true } : {}),
  };
  try {
    await hooks.record(call);
  } catch {
    return {
      ok: false,
      call,
      recorded: false,
      contextLimit: false,
      // The store's message may quote paths; the harness needs none of it.
      error: apiError(
        503,
        'recording_failed',
        'the call could not be recorded (is the disk full?); its reply is withheld and the episode cannot be trained on',
        { retry: false },
      ),
    };
  }
  if (status === 'complete' && reply) return { ok: true, call, reply };
  return {
    ok: false,
    call,
    recorded: true,
    contextLimit: failure?.contextLimit === true,
    error: failure ? clientError(failure, opening.onUpstreamFailure) : closedError(),
  };
}

/** What a closed episode's key is answered with. */
export function closedError(): ApiError {
  return apiError(409, 'episode_closed', 'this episode is closed: its key takes no further calls', { retry: false });
}

function clientError(failure: UpstreamFailure, manner: EpisodeOpening['onUpstreamFailure']): ApiError {
  if (failure.contextLimit)
    return apiError(400, 'context_length_exceeded', failure.message, { retry: false, body: failure.body });
  const message = `the planner's server failed: ${failure.message}`;
  if (manner === 'fail-fast') return apiError(424, 'upstream_failed', message, { retry: false });
  return apiError(failure.status, 'upstream_failed', message, { body: failure.body });
}

async function readWhole(
  answer: UpstreamReply,
  collector: CompletionCollector,
  boundary: BoundaryRequest,
  setup: CallSetup,
  onBytes: () => void,
): Promise<unknown> {
  const { dialect } = setup.inDialect;
  const text = await readBody(answer.body, LARGEST_REPLY, onBytes);
  const parsed = parse(text);
  const reply = dialect.fromUpstream ? dialect.fromUpstream(parsed) : parsed;
  collector.addReply(reply);
  removeCapture(record(reply), boundary.wishes);
  return reply;
}

function eventsOf(reply: Record<string, unknown>, withUsage: boolean, client: ClientStream): string[] {
  const events = wholeAsChunks(reply, withUsage).flatMap((chunk) => client.push(chunk));
  return [...events, ...client.end()];
}

/** The prompt's ids from the server's own encoder, asked for beside the call; undefined where the reply tells them. */
function promptOf(
  body: Record<string, unknown>,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<number[] | Error> | undefined {
  const root = serverRoot(upstream.url);
  return upstream.client
    .promptTokens?.(body, (path, asked) => askJson(root + path, asked, upstream.apiKey, signal))
    .catch((error: Error) => error);
}

async function addPrompt(collector: CompletionCollector, prompt: Promise<number[] | Error> | undefined): Promise<void> {
  const ids = await prompt;
  if (ids instanceof Error) collector.note(`the prompt could not be encoded by the server: ${describe(ids)}`);
  else if (ids !== undefined) collector.addPrompt(ids);
}

/** Fires when nothing has come from the upstream for a time, or when the outer signal does. */
class SilenceWatch {
  readonly seconds: number;
  readonly signal: AbortSignal;
  broken = false;
  private readonly own = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(seconds: number, outer: AbortSignal) {
    this.seconds = seconds;
    this.signal = AbortSignal.any([outer, this.own.signal]);
  }

  start(): void {
    this.timer = setTimeout(
      () => {
        this.broken = true;
        this.own.abort();
      },
      Math.min(this.seconds * 1000, 2 ** 31 - 1),
    );
  }

  restart(): void {
    this.timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** @returns every event for the client; those before the finish chunk were forwarded already. */
async function readStream(
  answer: UpstreamReply,
  collector: CompletionCollector,
  boundary: BoundaryRequest,
  setup: CallSetup,
  onBytes: () => void,
  checkVersion: () => void,
  forward: (event: string) => void,
): Promise<string[]> {
  const type = answer.headers['content-type'] ?? '';
  if (!type.includes('text/event-stream'))
    throw new UpstreamFailure(`a streamed reply was asked for, but "${excerpt(type, 80)}" came`);
  const reader = new EventStreamReader();
  const { dialect } = setup.inDialect;
  const client: ClientStream = dialect.stream(setup.inDialect.context);
  const events: string[] = [];
  let size = 0;
  let done = false;
  for await (const bytes of answer.body) {
    onBytes();
    size += bytes.length;
    if (size > LARGEST_REPLY) throw new UpstreamFailure(`the reply is larger than ${LARGEST_REPLY} bytes`);
    for (const data of reader.push(bytes)) {
      if (done) continue;
      if (data.trim() === '[DONE]') {
        done = true;
        continue;
      }
      const parsed = parse(data);
      const chunk = dialect.fromUpstream ? dialect.fromUpstream(parsed) : parsed;
      collector.addChunk(chunk);
      checkVersion();
      const view = record(chunk);
      removeCapture(view, boundary.wishes);
      const hasChoices = Array.isArray(view.choices) && view.choices.length > 0;
      if (!boundary.wishes.usage) {
        delete view.usage;
        // The chunk that only tells the usage was asked for by the proxy alone.
        if (!hasChoices) continue;
      }
      for (const event of client.push(view)) {
        events.push(event);
        if (collector.finishReason === null) forward(event);
      }
    }
  }
  if (collector.finishReason === null)
    throw new UpstreamFailure(
      done ? 'the stream ended without a finish reason' : 'the stream broke off before its finish chunk',
    );
  events.push(...client.end());
  return events;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UpstreamFailure('it answered with something that is not JSON');
  }
}

/** An answer with a status other than 200. */
async function refusal(answer: UpstreamReply, onBytes: () => void): Promise<UpstreamFailure> {
  const text = await readBody(answer.body, LARGEST_ERROR, onBytes);
  let body: string | undefined;
  let message = text.trim() === '' ? 'no body' : excerpt(text);
  let code: unknown;
  try {
    const parsed = record(JSON.parse(text));
    const error = parsed.error ?? (typeof parsed.message === 'string' ? parsed : undefined);
    if (error !== undefined) {
      message = errorMessage(error);
      code = record(error).code;
      if (typeof record(parsed.error).message === 'string') body = text;
    }
  } catch {
    // Not JSON: the text itself is the message.
  }
  const status = answer.status >= 400 && answer.status <= 599 ? answer.status : 502;
  const contextLimit =
    status < 500 &&
    (code === 'context_length_exceeded' || /maximum context length|context length|context window/i.test(message));
  return new UpstreamFailure(`HTTP ${answer.status}: ${excerpt(message)}`, status, body, contextLimit);
}

function completionOf(collector: CompletionCollector) {
  try {
    return { completion: collector.completion(), malformed: undefined };
  } catch (error) {
    return { completion: undefined, malformed: describe(error) };
  }
}

function describe(error: unknown): string {
  if (error instanceof ReplyError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error.message === '') return code ?? error.name;
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}
