/**
 * A door before the recording proxy for harnesses that cannot be given a new key an episode: every connection is an
 * episode of its own. Requests are passed on to that episode's address; one key opens the door for all of them. A repeat
 * that its client marks goes to the episode of its first try, over whatever connection it comes.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import { listen } from '../../trainer-daemon/listening.ts';
import { refuse, sendError } from '../../trainer-daemon/proxy/answers.ts';
import { type ApiError, apiError } from '../../trainer-daemon/proxy/api-error.ts';
import { readBody } from '../../trainer-daemon/proxy/dialects/body.ts';
import { RefusedRequest } from '../../trainer-daemon/proxy/dialects/contract.ts';
import { dialectOf, EPISODE_HEADER, keysIn } from '../../trainer-daemon/proxy/dialects/index.ts';
import { ConnectionEpisodes, type DoorEpisode } from './connection-episodes.ts';

export interface FrontOptions {
  port: number;
  /** Largest request body in bytes. */
  bodyLimit: number;
  /** Opens an episode for a connection; gives its address (ends in /v1) and what to do when it is over. */
  open(): { baseUrl: string; ended(): void };
  /** Told once for each kind of client (its user-agent), when two connections of one kind are open at a time. */
  onSeveral(agent: string): void;
}

const REQUEST_MILLISECONDS = 120_000;

export class ConnectionFront {
  readonly key = randomBytes(32).toString('hex');
  baseUrl = '';
  readonly #server: Server;
  readonly #episodes: ConnectionEpisodes;
  readonly #bodyLimit: number;

  private constructor(options: FrontOptions) {
    this.#episodes = new ConnectionEpisodes(options);
    this.#bodyLimit = options.bodyLimit;
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy());
    });
    this.#server.requestTimeout = REQUEST_MILLISECONDS;
    // A harness may think for long between two calls of one episode.
    this.#server.keepAliveTimeout = 0;
  }

  /** @throws ListenError when the port is taken. */
  static async start(options: FrontOptions): Promise<ConnectionFront> {
    const front = new ConnectionFront(options);
    const port = await listen(front.#server, 'the door before the recording proxy', '127.0.0.1', options.port);
    front.baseUrl = `http://127.0.0.1:${port}/v1`;
    return front;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
    this.#episodes.end();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const inPath = /^\/e\/([^/?]+)(\/.*)?$/.exec(request.url ?? '/');
    const path = inPath ? (inPath[2] ?? '/') : (request.url ?? '/');
    const dialect = dialectOf(path.split('?')[0], request.headers);
    const no = (error: ApiError) => refuse(request, response, dialect.error(error));
    // A page in a browser may reach a local port under a name of its own choosing; it cannot fake this header.
    if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(request.headers.host ?? ''))
      return no(apiError(403, 'host_not_allowed', 'this Host header is not served here'));
    const keys = inPath ? [inPath[1]] : keysIn(request.headers);
    if (!keys.some((key) => this.#mayEnter(key)))
      return no(apiError(401, 'invalid_api_key', 'unknown key: send the one that proxy printed', { retry: false }));
    if (!path.startsWith('/v1/')) return no(apiError(404, 'unknown_url', 'addresses begin with /v1/'));

    const parts: Buffer[] = [];
    try {
      if (!(await readBody(request, this.#bodyLimit, (part) => parts.push(part)))) return;
    } catch (error) {
      if (error instanceof RefusedRequest) return no(error.error);
      throw error;
    }
    const body = Buffer.concat(parts);
    const episode = this.#episodes.of(request.socket, request.headers, hashOf(path, body));
    this.#send(request, response, path, body, episode, (error) => sendError(response, dialect.error(error)));
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    body: Buffer,
    episode: DoorEpisode,
    failed: (error: ApiError) => void,
  ): void {
    const {
      authorization: _key,
      'x-api-key': _other,
      [EPISODE_HEADER]: _episode,
      host: _host,
      'transfer-encoding': _chunked,
      ...headers
    } = request.headers;
    if (body.length > 0) headers['content-length'] = String(body.length);
    const call = episode.begin();
    const onward = httpRequest(
      episode.baseUrl + path.slice('/v1'.length),
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.on('finish', () => call.over((answer.statusCode ?? 502) < 400));
        pipeline(answer, response, () => {});
      },
    );
    onward.on('error', () =>
      response.headersSent
        ? response.destroy()
        : failed(apiError(502, 'proxy_failed', 'the recording proxy did not answer')),
    );
    response.on('close', () => {
      call.over(false);
      onward.destroy();
    });
    onward.end(body);
  }

  #mayEnter(text: string): boolean {
    const given = Buffer.from(text);
    const key = Buffer.from(this.key);
    return given.length === key.length && timingSafeEqual(given, key);
  }
}

function hashOf(path: string, body: Buffer): string {
  return createHash('sha256').update(`${path}\n`).update(body).digest('base64');
}
