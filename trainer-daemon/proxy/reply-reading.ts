/** Reads an upstream's reply, whole or streamed, into the record and into what the client gets. */
import { excerpt } from './api-error.ts';
import { type CompletionCollector, removeCapture } from './completion.ts';
import type { CallInDialect, ClientStream } from './dialects/contract.ts';
import { unknownInReply } from './dialects/known-fields.ts';
import { EventStreamReader } from './event-stream.ts';
import { keepOneChoice } from './reply-shapes.ts';
import type { BoundaryRequest } from './sampling.ts';
import { UpstreamFailure } from './upstream-failure.ts';
import { readBody, type UpstreamReply } from './upstreams/request.ts';
import { record } from './upstreams/shapes.ts';
import { wholeAsChunks } from './whole-as-stream.ts';

const LARGEST_REPLY = 64 * 1024 * 1024;

export interface Reading {
  collector: CompletionCollector;
  boundary: BoundaryRequest;
  inDialect: CallInDialect;
  /** From the upstream's form to the chat form, where its endpoint has another. */
  fromUpstream?(reply: unknown): unknown;
  onBytes(): void;
  /** @throws UpstreamFailure when the reply is of another policy version than the call was sent to. */
  checkVersion(): void;
}

/** @returns the chat completion as the client may see it. @throws UpstreamFailure, ReplyError */
export async function readWhole(answer: UpstreamReply, reading: Reading): Promise<Record<string, unknown>> {
  const { collector, boundary } = reading;
  const parsed = parse(await readBody(answer.body, LARGEST_REPLY, reading.onBytes));
  const reply = reading.fromUpstream ? reading.fromUpstream(parsed) : parsed;
  collector.addReply(reply);
  takeUnknown(record(reply), reading);
  checkFinish(collector.finishReason);
  keepOneChoice(record(reply));
  removeCapture(record(reply), boundary.wishes);
  return record(reply);
}

/** The events of a stream made from a whole reply. */
export function eventsOf(reply: Record<string, unknown>, withUsage: boolean, client: ClientStream): string[] {
  const events = wholeAsChunks(reply, withUsage).flatMap((chunk) => client.push(chunk));
  return [...events, ...client.end()];
}

/**
 * @returns every event for the client; those before the finish chunk were forwarded already.
 * @throws UpstreamFailure, ReplyError
 */
export async function readStream(
  answer: UpstreamReply,
  reading: Reading,
  forward: (event: string) => void,
): Promise<string[]> {
  const { collector, boundary, inDialect } = reading;
  const type = answer.headers['content-type'] ?? '';
  if (!type.includes('text/event-stream'))
    throw new UpstreamFailure(`a streamed reply was asked for, but "${excerpt(type, 80)}" came`);
  const reader = new EventStreamReader();
  const { dialect } = inDialect;
  const client = dialect.stream(inDialect.context);
  const events: string[] = [];
  let size = 0;
  let done = false;
  for await (const bytes of answer.body) {
    reading.onBytes();
    size += bytes.length;
    if (size > LARGEST_REPLY) throw new UpstreamFailure(`the reply is larger than ${LARGEST_REPLY} bytes`);
    for (const data of reader.push(bytes)) {
      if (done) continue;
      if (data.trim() === '[DONE]') {
        done = true;
        continue;
      }
      const parsed = parse(data);
      const chunk = reading.fromUpstream ? reading.fromUpstream(parsed) : parsed;
      collector.addChunk(chunk);
      const view = record(chunk);
      takeUnknown(view, reading);
      reading.checkVersion();
      keepOneChoice(view);
      checkFinish(collector.finishReason ?? undefined);
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

/** Records and tells what is not known of a reply or chunk. */
function takeUnknown(reply: Record<string, unknown>, { collector, inDialect }: Reading): void {
  const fields = unknownInReply(reply);
  if (fields.length === 0) return;
  collector.others.add(fields);
  inDialect.unknownInReply?.(fields.map(({ path }) => path));
}

/** Finish reasons by which a server says that it broke the response off (vLLM and SGLang when requests are aborted). */
const BROKEN_OFF = new Set(['abort', 'aborted', 'error', 'cancelled', 'canceled', 'timeout']);

/** @param reason undefined while a stream has told none. @throws UpstreamFailure when the response is not whole. */
function checkFinish(reason: string | null | undefined): void {
  if (reason === null) throw new UpstreamFailure('the reply has no finish reason, so it may not be whole');
  if (reason !== undefined && BROKEN_OFF.has(reason))
    throw new UpstreamFailure(`the response was broken off by the server (finish reason "${reason}")`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UpstreamFailure('it answered with something that is not JSON');
  }
}
