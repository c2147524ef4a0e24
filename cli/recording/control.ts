/**
 * The back door of a running `proxy` command: `proxy --open-episode` and `--close-episode` reach it from another
 * terminal. Its address and a token stand in a file of the recording that only its owner can read.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';

const FILE = 'proxy.json';
const fileSchema = z.object({ url: z.url(), token: z.string().min(1) });
const openedSchema = z.object({ id: z.string(), key: z.string(), baseUrl: z.string(), model: z.string() });
export type OpenedEpisode = z.output<typeof openedSchema>;

export interface ControlOptions {
  directory: string;
  open(): OpenedEpisode;
  /** @returns false when no open episode has this key. */
  close(key: string): Promise<boolean>;
}

export class Control {
  readonly #server: Server;
  readonly #options: ControlOptions;
  readonly #token = randomBytes(32).toString('hex');

  private constructor(options: ControlOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: ControlOptions): Promise<Control> {
    const control = new Control(options);
    await new Promise<void>((resolve, reject) => {
      control.#server.once('error', reject);
      control.#server.listen(0, '127.0.0.1', resolve);
    });
    const url = `http://127.0.0.1:${(control.#server.address() as AddressInfo).port}`;
    await writeFile(join(options.directory, FILE), JSON.stringify({ url, token: control.#token }), { mode: 0o600 });
    return control;
  }

  async close(): Promise<void> {
    await rm(join(this.#options.directory, FILE), { force: true });
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const given = Buffer.from(request.headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${this.#token}`);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return send(401, {});
    const key = /^\/episodes\/([0-9a-f]+)$/.exec(request.url ?? '')?.[1];
    if (request.method === 'POST' && request.url === '/episodes') return send(200, this.#options.open());
    if (request.method === 'DELETE' && key !== undefined)
      return (await this.#options.close(key)) ? send(200, {}) : send(404, {});
    send(404, {});
  }
}

/** Opens a further episode of the proxy that records into a folder. @throws Error when none does. */
export async function openRemotely(directory: string): Promise<OpenedEpisode> {
  return openedSchema.parse(await (await knock(directory, 'POST', '/episodes')).json());
}

/** Ends an episode. @throws Error when there is no such proxy or no such episode. */
export async function closeRemotely(directory: string, key: string): Promise<void> {
  const response = await knock(directory, 'DELETE', `/episodes/${encodeURIComponent(key)}`);
  if (response.status === 404) throw new Error('no open episode of that proxy has this key');
}

async function knock(directory: string, method: string, path: string): Promise<Response> {
  const none = `no proxy records into ${directory} now: start one with "proxy --upstream URL --record ${directory}"`;
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(none);
  const { url, token } = fileSchema.parse(JSON.parse(text));
  return fetch(url + path, { method, headers: { authorization: `Bearer ${token}` } }).catch(() => {
    throw new Error(none);
  });
}
