/**
 * The recording proxy: an endpoint in front of the planner's server that speaks the dialects of dialects/. Each episode
 * has a random key, in the path (`/e/KEY/v1/...`) or in a header (bearer token, `x-api-key`,
 * `x-agentic-robo-rl-episode`). A call's record is durable before its reply ends. Neither keys nor prompts are ever
 * logged.
 */
import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { inUrl, listen } from '../listening.ts';
import { refuse, sendError, sendJson } from './answers.ts';
import { apiError } from './api-error.ts';
import { closedError } from './call.ts';
import type { EpisodeOpening, ProxyEpisode, RecordingProxy } from './contract.ts';
import { parseBody, readBody } from './dialects/body.ts';
import { chatDialect } from './dialects/chat.ts';
import { type Dialect, RefusedRequest, type ReplyContext, type Translation } from './dialects/contract.ts';
import { countTokens } from './dialects/count-tokens.ts';
import { dialectOf, keysIn, MODELS, modelsReply, SERVED } from './dialects/index.ts';
import { DialectMemory } from './dialects/memory.ts';
import { OpenEpisode } from './episode.ts';
import { IncomingBody } from './incoming-body.ts';
import { KeptReplies } from './kept-replies.ts';
import { KnownTexts } from './known-texts.ts';
import { hashOf, type JsonDocument, type LargeText } from './large-texts.ts';
import { samplingProblem } from './sampling.ts';

export interface ProxyOptions {
  /** Address to listen on; anything but loopback lets other machines reach it (a key is needed all the same). */
  listen?: string;
  /** 0 takes any free port. */
  port?: number;
  /** Largest request body in bytes. */
  bodyLimit?: number;
  /** A client that needs longer to send its request is refused. */
  requestSeconds?: number;
  /** Told once an episode of each field of a request that has no meaning for the planner's server. */
  onNotice?: (text: string) => void;
}

const BODY_LIMIT = 32 * 1024 * 1024;

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
  private readonly onNotice: (text: string) => void;
  private readonly server: http.Server;
  private readonly episodes = new Map<string, OpenEpisode>();
  private readonly knownTexts = new KnownTexts();
  private readonly keptReplies = new KeptReplies();
  private readonly closedKeys = new Set<string>();
  private readonly memories = new WeakMap<OpenEpisode, DialectMemory>();

  constructor(options: ProxyOptions) {
    this.address = options.listen ?? '127.0.0.1';
    this.port = options.port ?? 0;
    this.bodyLimit = options.bodyLimit ?? BODY_LIMIT;
    this.onNotice = options.onNotice ?? (() => {});
    const requestSeconds = options.requestSeconds ?? 120;
    const checking = { connectionsCheckingInterval: Math.min(5_000, requestSeconds * 250) };
    this.server = http.createServer(checking, (request, response) => {
      this.handle(request, response).catch(() => {
        // A defect of ours: the client is told no details, and no record exists.
        if (!response.headersSent)
          sendError(response, chatDialect.error(apiError(500, 'proxy_failed', 'the recording proxy failed')));
        else response.destroy();
      });
    });
    this.server.headersTimeout = Math.min(30_000, requestSeconds * 1000);
    this.server.requestTimeout = requestSeconds * 1000;
    this.server.keepAliveTimeout = 65_000;
    // How long a reply may take is the episode's limit, not the server's.
    this.server.timeout = 0;
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
      if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    });
  }

  async listen(): Promise<void> {
    const port = await listen(this.server, 'the recording proxy', this.address, this.port);
    const host = reachableHost(this.address);
    this.url = `http://${inUrl(host)}:${port}`;
  }

  openEpisode(opening: EpisodeOpening): ProxyEpisode {
    const problem = samplingProblem(opening.upstream, opening.sampling);
    if (problem) throw new Error(problem);
    for (const episode of this.episodes.values())
      if (episode.id === opening.id) throw new Error(`episode ${opening.id} is open already`);
    const key = randomBytes(32).toString('hex');
    const episode = new OpenEpisode(opening, key, `${this.url}/e/${key}/v1`, this.keptReplies, () => {
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
      return refuse(
        request,
        response,
        chatDialect.error(apiError(403, 'host_not_allowed', 'this Host header is not served here')),
      );
    const path = (request.url ?? '/').split('?')[0];
    const inPath = /^\/e\/([^/]+)(\/.*)?$/.exec(path);
    // Some clients add /v1 themselves, whatever base URL they are given.
    const route = (inPath ? (inPath[2] ?? '/') : path).replace(/^\/v1\/v1\//, '/v1/');
    const dialect = dialectOf(route, request.headers);
    const keys = inPath ? [inPath[1]] : keysIn(request.headers);
    const known = keys.find((key) => this.episodes.has(key) || this.closedKeys.has(key));
    const episode = known === undefined ? undefined : this.episodes.get(known);
    if (!episode) {
      const error =
        known !== undefined
          ? closedError()
          : apiError(401, 'invalid_api_key', 'unknown episode key: send the key that the adapter was given', {
              retry: false,
            });
      return refuse(request, response, dialect.error(error));
    }
    const isModels = route === MODELS || route.startsWith(`${MODELS}/`);
    if (isModels && request.method === 'GET') {
      const { model } = episode.opening.upstream;
      const models = modelsReply(
        model,
        request.headers,
        route === MODELS ? undefined : decoded(route.slice(MODELS.length + 1)),
      );
      if (models !== undefined) return sendJson(response, 200, models);
      return refuse(
        request,
        response,
        dialect.error(apiError(404, 'model_not_found', `there is no such model here, only ${model}`)),
      );
    }
    const served = dialect.paths.includes(route) || dialect.count?.path === route;
    if (!served && !isModels)
      return refuse(
        request,
        response,
        // Harnesses that must not repeat a failure (CaP-X) repeat a 404 for ever too.
        dialect.error(
          apiError(
            episode.opening.onUpstreamFailure === 'fail-fast' ? 424 : 404,
            'unknown_url',
            `the recording proxy serves ${SERVED} only`,
            { retry: false },
          ),
        ),
      );
    if (!served || request.method !== 'POST')
      return refuse(
        request,
        response,
        dialect.error(apiError(405, 'method_not_allowed', isModels ? `use GET ${route}` : `use POST ${route}`)),
      );
    await this.call(episode, dialect, route, request, response);
  }

  private async call(
    episode: OpenEpisode,
    dialect: Dialect,
    route: string,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    episode.touch();
    const memory = this.memoryOf(episode);
    const { upstream } = episode.opening;
    const translating = { toolCalls: memory.toolCalls, templateArguments: upstream.capturesTokens };
    let document: JsonDocument;
    let body: unknown;
    let texts: LargeText[];
    let translation: Translation;
    try {
      const incoming = new IncomingBody(this.knownTexts);
      const isWhole = await readBody(request, this.bodyLimit, (part) => {
        episode.touch();
        incoming.push(part);
      });
      if (!isWhole) return;
      ({ body, texts, document } = parseBody(incoming.end(), this.knownTexts));
      if (route === dialect.count?.path) {
        const { chat } = dialect.count.toChat(body, translating);
        return sendJson(response, 200, dialect.count.reply(await countTokens(chat, upstream)));
      }
      translation = dialect.toChat(body, translating);
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      const answer = dialect.error(error.error);
      return request.complete ? sendError(response, answer) : refuse(request, response, answer);
    }
    const context: ReplyContext = {
      replyId: memory.nextReplyId(episode.id),
      received: body as Record<string, unknown>,
      toolCalls: memory.toolCalls,
    };

    const hungUp = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) hungUp.abort();
    });
    const begin = () => {
      if (response.headersSent) return;
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
    };
    let sent = 0;
    const answer = await episode.answer(
      {
        request: translation.chat,
        inDialect: {
          dialect,
          context,
          untranslated: memory.forRecord(translation.untranslated, this.onNotice),
          unknownInReply: (paths) => memory.tellOfReply(paths, this.onNotice),
        },
        texts,
        bodyHash: hashOf(route, document),
        idempotencyKey: single(request.headers['idempotency-key']),
        retry: Math.max(0, Math.trunc(Number(single(request.headers['x-stainless-retry-count']) ?? 0) || 0)),
      },
      {
        gone: hungUp.signal,
        forward: (event) => {
          begin();
          sent++;
          response.write(event);
        },
        heartbeat: () => {
          begin();
          // A comment: clients of event streams pass over it.
          response.write(': the planner is not ready yet\n\n');
        },
      },
    );
    episode.touch();
    if (response.destroyed) return;
    if ('error' in answer) {
      if (!response.headersSent) return sendError(response, dialect.error(answer.error));
      // The status line is gone; the stream itself must tell.
      response.end(dialect.streamError(answer.error, context, sent));
      return;
    }
    response.on('finish', answer.delivered);
    if ('events' in answer.reply) {
      begin();
      response.end(answer.reply.events.slice(answer.forwarded).join(''));
    } else {
      sendJson(response, 200, answer.reply.json);
    }
  }

  private memoryOf(episode: OpenEpisode): DialectMemory {
    let memory = this.memories.get(episode);
    if (memory === undefined) {
      memory = new DialectMemory();
      this.memories.set(episode, memory);
    }
    return memory;
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

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
