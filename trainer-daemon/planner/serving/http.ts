/** The plumbing of a JSON server: bodies with a cap, JSON answers, errors in OpenAI's shape, event streams. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from './api-error.ts';

/** Largest body accepted: prompts with images can be large, though images are not read. */
const LARGEST_BODY = 32 * 1024 * 1024;
/** A client that sends even more than this is cut off. */
const MOST_DROPPED = 8 * LARGEST_BODY;

/** @throws ApiError 413 when the body is too large, 400 when it is no JSON object. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    // What is too much is read and dropped, so that the client, once done sending, reads the answer.
    if (size <= LARGEST_BODY) parts.push(part as Buffer);
    else if (size > MOST_DROPPED) break;
    else parts.length = 0;
  }
  if (size > LARGEST_BODY) {
    throw new ApiError(413, `the request body is larger than ${LARGEST_BODY} bytes`, { code: 'request_too_large' });
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch (error) {
    throw new ApiError(400, `the request body is not JSON: ${(error as Error).message}`, { code: 'invalid_json' });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError(400, 'the request body must be a JSON object', { code: 'invalid_json' });
  }
  return value as Record<string, unknown>;
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  if (response.writableEnded || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Answers with an error; in a stream that has begun, as its last event. */
export function sendError(response: ServerResponse, error: unknown): void {
  const known =
    error instanceof ApiError ? error : new ApiError(500, `internal error: ${(error as Error)?.message ?? error}`);
  if (!response.headersSent) {
    sendJson(response, known.status, known.toBody());
  } else if (!response.writableEnded) {
    response.end(`data: ${JSON.stringify(known.toBody())}\n\n`);
  }
}

/** A server-sent event stream. */
export class EventStream {
  private readonly response: ServerResponse;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  send(event: object): void {
    if (!this.response.headersSent) {
      this.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    }
    this.response.write(`data: ${JSON.stringify(event)}\n\n`);
  }

  end(): void {
    this.response.end('data: [DONE]\n\n');
  }
}
