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

/** Answers before the body was read: the rest of it is not taken in. */
export function refuse(request: http.IncomingMessage, response: http.ServerResponse, error: ErrorReply): void {
  sendJson(response, error.status, error.body, { ...error.headers, connection: 'close' });
  // Gives the client time to read the refusal before the socket goes.
  request.resume();
  response.on('finish', () => setTimeout(() => request.socket.destroy(), 200).unref());
}
