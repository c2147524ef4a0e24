/**
 * The recording proxy: an OpenAI-compatible endpoint in front of the planner's server. Each episode has a random key,
 * in the path (`/e/KEY/v1/chat/completions`) or as bearer token (`/v1/chat/completions`). A call's record is durable
 * before its reply ends. Neither keys nor prompts are ever logged.
 */
import { createHash, randomBytes } from 'node:crypto';
import * as http from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { chatRequestSchema } from '../../protocol/chat.ts';
import { type ApiError, apiError, apiErrorBody } from './api-error.ts';
import { closedError } from './call.ts';
import type { EpisodeOpening, ProxyEpisode, RecordingProxy } from './contract.ts';
import { OpenEpisode } from './episode.ts';
import { formatEvent } from './event-stream.ts';
import { samplingProblem } from './sampling.ts';

export interface ProxyOptions {
  /** Address to listen on; anything but loopback lets other machines reach it (a key is needed all the same). */
  listen?: string;
  /** 0 takes any free port. */
  port?: number;
  /** Largest request body in bytes. */
  bodyLimit?: number;
}

const BODY_LIMIT = 32 * 1024 * 1024;
const CHAT = '/v1/chat/completions';
const MODELS = '/v1/models';

/** @throws Error when the address cannot be listened on. */
export async function startProxy(options: ProxyOptions = {}): Promise<RecordingProxy> {
  const proxy = new ProxyServer(options);
  await proxy.listen();
  return proxy;
}

class ProxyServer implements RecordingProxy {
  url = '';
  private readonly address: string;
  private readonly port: number;
  private readonly bodyLimit: number;
  private readonly server: http.Server;
  private readonly episodes = new Map<string, OpenEpisode>();
  private readonly closedKeys = new Set<string>();

  constructor(options: ProxyOptions) {
    this.address = options.listen ?? '127.0.0.1';
    this.port = options.port ?? 0;
    this.bodyLimit = options.bodyLimit ?? BODY_LIMIT;
    this.server = http.createServer((request, response) => {
      this.handle(request, response).catch(() => {
        // A defect of ours: the client is told no details, and no record exists.
        if (!response.headersSent) sendError(response, apiError(500, 'proxy_failed', 'the recording proxy failed'));
        else response.destroy();
      });
    });
    this.server.headersTimeout = 30_000;
    this.server.requestTimeout = 120_000;
    this.server.keepAliveTimeout = 65_000;
    // How long a reply may take is the episode's limit, not the server's.
    this.server.timeout = 0;
    this.server.on('clientError', (_error, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', (error) =>
        reject(new Error(`the recording proxy cannot listen on ${this.address}:${this.port}: ${error.message}`)),
      );
      this.server.listen(this.port, this.address, () => resolve());
    });
    const { port } = this.server.address() as AddressInfo;
    const host = reachableHost(this.address);
    this.url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  }

  openEpisode(opening: EpisodeOpening): ProxyEpisode {
    const problem = samplingProblem(opening.upstream, opening.sampling);
    if (problem) throw new Error(problem);
    for (const episode of this.episodes.values())
      if (episode.id === opening.id) throw new Error(`episode ${opening.id} is open already`);
    const key = randomBytes(32).toString('hex');
    const episode = new OpenEpisode(opening, key, `${this.url}/e/${key}/v1`, () => {
      this.episodes.delete(key);
      this.closedKeys.add(key);
    });
    this.episodes.set(key, episode);
    return episode;
  }

  async close(): Promise<void> {
    await Promise.all([...this.episodes.values()].map((episode) => episode.close('cancelled')));
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    response.on('error', () => {});
    if (!this.hostAllowed(request.headers.host))
      return refuse(request, response, apiError(403, 'host_not_allowed', 'this Host header is not served here'));
    const path = (request.url ?? '/').split('?')[0];
    const inPath = /^\/e\/([^/]+)(\/.*)$/.exec(path);
    const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const key = inPath?.[1] ?? bearer;
    const route = inPath?.[2] ?? path;
    const episode = key === undefined ? undefined : this.episodes.get(key);
    if (!episode) {
      const error =
        key !== undefined && this.closedKeys.has(key)
          ? closedError()
          : apiError(401, 'invalid_api_key', 'unknown episode key: send the key that the adapter was given', {
              retry: false,
            });
      return refuse(request, response, error);
    }
    if (route === MODELS && request.method === 'GET') {
      const model = { id: episode.opening.upstream.model, object: 'model', created: 0, owned_by: 'agentic-robo-rl' };
      return sendJson(response, 200, JSON.stringify({ object: 'list', data: [model] }));
    }
    if (route !== CHAT && route !== MODELS)
      return refuse(
        request,
        response,
        apiError(404, 'unknown_url', `the recording proxy serves POST ${CHAT} and GET ${MODELS} only`),
      );
    if (route !== CHAT || request.method !== 'POST')
      return refuse(request, response, apiError(405, 'method_not_allowed', `use POST ${CHAT} or GET ${MODELS}`));
    await this.chat(episode, request, response);
  }

  private async chat(
    episode: OpenEpisode,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    episode.touch();
    const bytes = await this.readRequest(episode, request, response);
    if (bytes === undefined) return;
    const body = parseRequest(bytes);
    if ('status' in body) return sendError(response, body);

    const hungUp = new AbortController();
    response.on('close', () => hungUp.abort());
    const streamed = body.request.stream === true;
    const begin = () => {
      if (response.headersSent) return;
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
    };
    const answer = await episode.answer(
      {
        request: body.request,
        bodyHash: createHash('sha256').update(bytes).digest('hex'),
        idempotencyKey: single(request.headers['idempotency-key']),
        marked: Number(single(request.headers['x-stainless-retry-count']) ?? 0) > 0,
      },
      {
        gone: hungUp.signal,
        forward: (event) => {
          begin();
          response.write(event);
        },
      },
    );
    episode.touch();
    if (response.destroyed) return;
    if ('error' in answer) {
      if (!response.headersSent) return sendError(response, answer.error);
      // The status line is gone; OpenAI's clients raise on an error event.
      response.end(formatEvent(JSON.stringify(JSON.parse(apiErrorBody(answer.error)))));
    } else if (streamed && 'events' in answer.reply) {
      begin();
      response.end(answer.reply.events.slice(answer.forwarded).join(''));
    } else if ('json' in answer.reply) {
      sendJson(response, 200, answer.reply.json);
    }
  }

  /** @returns undefined when the client was refused or hung up. */
  private async readRequest(
    episode: OpenEpisode,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<Buffer | undefined> {
    const tooLarge = apiError(413, 'request_too_large', `the request is larger than ${this.bodyLimit} bytes`);
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      refuse(request, response, apiError(415, 'encoding_not_supported', `send the body without ${encoding} encoding`));
      return undefined;
    }
    if (Number(request.headers['content-length'] ?? 0) > this.bodyLimit) {
      refuse(request, response, tooLarge);
      return undefined;
    }
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        episode.touch();
        size += part.length;
        if (size > this.bodyLimit) {
          refuse(request, response, tooLarge);
          return undefined;
        }
        parts.push(part);
      }
    } catch {
      return undefined;
    }
    return Buffer.concat(parts);
  }

  /** Keeps web pages from reaching a loopback proxy under a name of their own (DNS rebinding). */
  private hostAllowed(header: string | undefined): boolean {
    if (header === undefined) return false;
    if (!isLoopback(this.address)) return true;
    const host = header.replace(/:\d+$/, '').toLowerCase();
    return host === this.address || host === '[' + this.address + ']' || isLoopback(host.replace(/^\[|\]$/g, ''));
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** A host that harnesses can reach: for "any address", this machine's first outward one. */
function reachableHost(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address;
  for (const each of Object.values(networkInterfaces()).flat())
    if (each && !each.internal && each.family === 'IPv4') return each.address;
  return '127.0.0.1';
}

function parseRequest(bytes: Buffer): ApiError | { request: Record<string, unknown> } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return apiError(400, 'invalid_json', 'the request body is not JSON in UTF-8');
  }
  const checked = chatRequestSchema.safeParse(parsed);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    return apiError(400, 'invalid_request', `${issue.path.join('.') || 'the request'}: ${issue.message}`);
  }
  const request = parsed as Record<string, unknown>;
  if (typeof request.n === 'number' && request.n > 1)
    return apiError(
      400,
      'one_choice_only',
      `n is ${request.n}: each call is recorded as one response, so n must be 1 (switch off the harness's ensembling)`,
    );
  return { request };
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function sendJson(response: http.ServerResponse, status: number, body: string, headers?: Record<string, string>): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function sendError(response: http.ServerResponse, error: ApiError): void {
  sendJson(response, error.status, apiErrorBody(error), error.headers);
}

/** Answers before the body was read: the rest of it is not taken in. */
function refuse(request: http.IncomingMessage, response: http.ServerResponse, error: ApiError): void {
  sendJson(response, error.status, apiErrorBody(error), { ...error.headers, connection: 'close' });
  // Gives the client time to read the refusal before the socket goes.
  request.resume();
  response.on('finish', () => setTimeout(() => request.socket.destroy(), 200).unref());
}
