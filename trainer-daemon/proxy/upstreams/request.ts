/**
 * One request to an upstream. Node's own client rather than fetch: fetch gives up after 300 s without headers, and a
 * long response that is not streamed takes longer; how long a call may take is the proxy's business.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { jsonParts } from '../large-texts.ts';

const agents = {
  'http:': new http.Agent({ keepAlive: true, maxFreeSockets: 64 }),
  'https:': new https.Agent({ keepAlive: true, maxFreeSockets: 64 }),
};

const LARGEST_ANSWER = 16 * 1024 * 1024;

export interface UpstreamReply {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** @throws Error (in iteration) when the connection breaks before the end. */
  body: AsyncIterable<Buffer>;
}

/**
 * Posts a JSON body (its bytes, in pieces) and resolves with the reply's head.
 * @throws Error when the server cannot be reached, hangs up or the signal fires (then `signal.aborted`).
 */
export function postJson(
  url: string,
  body: readonly Buffer[],
  apiKey: string | null,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  return send(url, body, apiKey, signal);
}

/**
 * Asks one endpoint for a JSON document.
 * @param body posted when given; without it the request is a GET.
 * @throws Error when it does not answer 200 with JSON.
 */
export async function askJson(
  url: string,
  body: unknown,
  apiKey: string | null,
  signal: AbortSignal,
): Promise<unknown> {
  const reply = await send(url, body === undefined ? undefined : jsonParts(body), apiKey, signal);
  const text = await readBody(reply.body, LARGEST_ANSWER, () => undefined);
  const { pathname } = new URL(url);
  if (reply.status !== 200) throw new Error(`${pathname} answered HTTP ${reply.status}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${pathname} answered something that is not JSON`);
  }
}

async function send(
  url: string,
  body: readonly Buffer[] | undefined,
  apiKey: string | null,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  try {
    return await attempt(url, body, apiKey, signal);
  } catch (error) {
    // A kept-alive socket that the server closed just now: nothing was answered, so a fresh one is safe.
    if (error instanceof StaleSocket && !signal.aborted) return attempt(url, body, apiKey, signal);
    throw error;
  }
}

class StaleSocket extends Error {}

function attempt(
  url: string,
  body: readonly Buffer[] | undefined,
  apiKey: string | null,
  signal: AbortSignal,
): Promise<UpstreamReply> {
  const target = new URL(url);
  const secure = target.protocol === 'https:';
  const headers: http.OutgoingHttpHeaders = {
    accept: 'application/json, text/event-stream',
    'accept-encoding': 'identity',
  };
  if (body) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = body.reduce((sum, { length }) => sum + length, 0);
  }
  if (apiKey !== null) headers.authorization = `Bearer ${apiKey}`;
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(target, {
      method: body ? 'POST' : 'GET',
      headers,
      agent: secure ? agents['https:'] : agents['http:'],
      signal,
    });
    let answered = false;
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (answered) return;
      const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(stale ? new StaleSocket(error.message) : error);
    });
    request.on('response', (response) => {
      answered = true;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response });
    });
    for (const part of body?.slice(0, -1) ?? []) request.write(part);
    // The last with the end: a small request is one packet.
    request.end(body?.at(-1));
  });
}

/** Reads a whole body as text. @throws Error beyond `limit` bytes or when the connection breaks. */
export async function readBody(body: AsyncIterable<Buffer>, limit: number, onBytes: () => void): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    onBytes();
    size += part.length;
    if (size > limit) throw new Error(`the reply is larger than ${limit} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
