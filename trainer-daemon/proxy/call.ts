/** One planner call: sent on, read, recorded; only then is its end handed to the harness. */
import type { Message, Tool } from '../../protocol/chat.ts';
import { seedOf } from '../../protocol/random.ts';
import type { ResolvedCall } from '../../protocol/records.ts';
import { type ApiError, apiError, excerpt } from './api-error.ts';
import { CompletionCollector } from './completion.ts';
import type { EpisodeOpening, Upstream } from './contract.ts';
import { type CallInDialect, wayOf } from './dialects/contract.ts';
import { jsonParts, type LargeText } from './large-texts.ts';
import { NotHeld } from './policy-gate.ts';
import { eventsOf, readStream, readWhole } from './reply-reading.ts';
import { idOfNameless } from './reply-shapes.ts';
import { enforceSampling } from './sampling.ts';
import { SilenceWatch } from './silence-watch.ts';
import { captureProblem } from './trainability.ts';
import { clientError, describe, refusal, UpstreamFailure } from './upstream-failure.ts';
import { serverRoot } from './upstreams/create.ts';
import { askJson, postJson } from './upstreams/request.ts';

/** A reply that is not streamed may need this long for tens of thousands of tokens. */
const SILENCE_SECONDS = 1800;
const HEARTBEAT_SECONDS = 15;

export interface CallSetup {
  id: string;
  turn: number;
  retryOf: string | null;
  /** The request in the chat form. */
  request: Record<string, unknown>;
  /** Large texts of the request as it came. */
  texts: readonly LargeText[];
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

/** Runs a call to its end. Never throws: every failure is a result. */
export async function runCall(setup: CallSetup, hooks: CallHooks): Promise<CallResult> {
  const { opening } = setup;
  const { upstream } = opening;
  const { dialect, context, untranslated } = setup.inDialect;
  const way = wayOf(dialect, upstream.client);
  const boundary = enforceSampling(setup.request, opening, seedOf(setup.id));
  const wantsStream = setup.request.stream === true;
  const collector = new CompletionCollector(
    upstream.client,
    dialect.namesCalls ? (index) => idOfNameless(context.replyId, index) : undefined,
  );
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
    const prompt = way.endpoint === '/chat/completions' ? promptOf(boundary.body, upstream, silence.signal) : undefined;
    if (boundary.streamed) clearInterval(heartbeat);
    const answer = await postJson(
      upstream.url + way.endpoint,
      jsonParts(way.toUpstream?.(boundary.body) ?? boundary.body, setup.texts),
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
    const reading = {
      collector,
      boundary,
      inDialect: setup.inDialect,
      fromUpstream: way.fromUpstream,
      onBytes,
      checkVersion,
    };
    if (boundary.streamed) {
      reply = { events: await readStream(answer, reading, hooks.forward) };
    } else {
      const whole = await readWhole(answer, reading);
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
  const untrainable =
    status === 'complete' && completion
      ? (way.untrainable ?? captureProblem(completion, upstream.client, upstream.vocabulary))
      : null;
  const responseOther = collector.others.soFar();
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
    ...(responseOther === undefined ? {} : { responseOther }),
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
        opening.onUpstreamFailure === 'fail-fast' ? 424 : 503,
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

function completionOf(collector: CompletionCollector) {
  try {
    return { completion: collector.completion(), malformed: undefined };
  } catch (error) {
    return { completion: undefined, malformed: describe(error) };
  }
}
