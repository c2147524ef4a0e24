/**
 * A door before the recording proxy for harnesses that cannot be given a new key an episode: every connection is an
 * episode of its own. Requests are passed on to that episode's address; one key opens the door for all of them.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { listen } from '../../trainer-daemon/listening.ts';
import { EPISODE_HEADER, keysIn } from '../../trainer-daemon/proxy/dialects/index.ts';

export interface FrontOptions {
  port: number;
  /** Opens an episode for a connection; gives its address (ends in /v1) and what to do when the connection ends. */
  open(): { baseUrl: string; ended(): void };
}

export class ConnectionFront {
  readonly key = randomBytes(32).toString('hex');
  baseUrl = '';
  readonly #server: Server;
  readonly #episodes = new WeakMap<Socket, { baseUrl: string }>();
  readonly #options: FrontOptions;

  private constructor(options: FrontOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#pass(request, response));
    this.#server.requestTimeout = 0;
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
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const refuse = (status: number, message: string) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } }));
      request.resume();
    };
    // A page in a browser may reach a local port under a name of its own choosing; it cannot fake this header.
    if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(request.headers.host ?? '')) {
      refuse(403, 'this Host header is not served here');
      return;
    }
    if (!keysIn(request.headers).some((key) => this.#mayEnter(key))) {
      refuse(401, 'unknown key');
      return;
    }
    const path = request.url ?? '/';
    if (!path.startsWith('/v1/')) {
      refuse(404, 'addresses begin with /v1/');
      return;
    }
    const socket = request.socket;
    let episode = this.#episodes.get(socket);
    if (!episode) {
      const opened = this.#options.open();
      episode = opened;
      this.#episodes.set(socket, opened);
      socket.once('close', () => opened.ended());
    }
    const {
      authorization: _key,
      'x-api-key': _other,
      [EPISODE_HEADER]: _episode,
      host: _host,
      ...headers
    } = request.headers;
    const onward = httpRequest(
      episode.baseUrl + path.slice('/v1'.length),
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, response, () => {});
      },
    );
    onward.on('error', () =>
      response.headersSent ? response.destroy() : refuse(502, 'the recording proxy did not answer'),
    );
    response.on('close', () => onward.destroy());
    pipeline(request, onward, () => {});
  }

  #mayEnter(text: string): boolean {
    const given = Buffer.from(text);
    const key = Buffer.from(this.key);
    return given.length === key.length && timingSafeEqual(given, key);
  }
}
