/** Ways to answer an HTTP request. */
import type * as http from 'node:http';
import type { ErrorReply } from './dialects/contract.ts';

export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: string,
  headers?: Record<string, string>,
): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

export function sendError(response: http.ServerResponse, error: ErrorReply): void {
  sendJson(response, error.status, error.body, error.headers);
}

/** How much of a refused request is taken in, and for how long, so that its client gets to read the refusal. */
const MOST_DRAINED = 256 * 1024 * 1024;
const DRAIN_MILLISECONDS = 20_000;

/**
 * Answers before the body was read. The answer is on its way at once, but the connection ends only when the client has
 * sent the rest (which is dropped): most clients write all of a request before they read, and a connection that ends
 * meanwhile is all they would see.
 */
export function refuse(request: http.IncomingMessage, response: http.ServerResponse, error: ErrorReply): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(error.status, {
    ...error.headers,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(error.body),
  });
  response.write(error.body);
  const over = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(over, DRAIN_MILLISECONDS).unref();
  let drained = 0;
  request.on('data', (part: Buffer) => {
    drained += part.length;
    if (drained > MOST_DRAINED) over();
  });
  request.on('end', over);
  response.on('close', () => clearTimeout(timer));
  if (request.readableEnded) over();
  else request.resume();
}
