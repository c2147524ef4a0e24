/**
 * Who is let in: the WebSocket server on 127.0.0.1, and the checks of its upgrade requests. A page in a browser cannot
 * send our header, always sends an Origin, and with a name that it has bound to 127.0.0.1 sends that name as Host.
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { LARGEST_REQUEST } from '../../protocol/daemon.ts';
import { sha256 } from '../../protocol/random.ts';
import { listen } from '../listening.ts';

const HOST = '127.0.0.1';
const MOST_CLIENTS = 64;

export interface Gate {
  port: number;
  /** Takes no more clients; resolves when the port is free. */
  close(): Promise<void>;
}

export interface GateOptions {
  token: string;
  /** A client that was let in. */
  onClient(socket: WebSocket): void;
  /** One that was not, and why. */
  onRefused(reason: string): void;
}

/** Listens on a free port of 127.0.0.1. */
export async function openGate({ token, onClient, onRefused }: GateOptions): Promise<Gate> {
  const server = createServer((_request, response) => {
    response.writeHead(426, { 'content-type': 'text/plain', connection: 'close' });
    response.end('this is no web page\n');
  });
  server.headersTimeout = 5000;
  server.requestTimeout = 10_000;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST_REQUEST, perMessageDeflate: false });
  let port = 0;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    const refusal =
      sockets.clients.size >= MOST_CLIENTS
        ? ({ status: '503 Service Unavailable', reason: `there are ${MOST_CLIENTS} clients already` } as const)
        : refusalOf(request, port, token);
    if (refusal) {
      onRefused(refusal.reason);
      socket.end(`HTTP/1.1 ${refusal.status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () =>
        socket.destroy(),
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, onClient);
  });
  port = await listen(server, 'the daemon', HOST, 0);
  return { port, close: () => closed(server) };
}

interface Refusal {
  status: string;
  reason: string;
}

/** Why an upgrade request is turned away; undefined when it is not. */
export function refusalOf(
  request: Pick<IncomingMessage, 'headers' | 'url'>,
  port: number,
  token: string,
): Refusal | undefined {
  const { host, origin, authorization } = request.headers;
  const forbidden = (reason: string): Refusal => ({ status: '403 Forbidden', reason });
  if (host !== `${HOST}:${port}` && host !== `localhost:${port}`)
    return forbidden(`the Host ${JSON.stringify(host ?? '').slice(0, 200)} is not this daemon's`);
  if (origin !== undefined)
    return forbidden(`it has an Origin (${JSON.stringify(origin).slice(0, 200)}), as pages have`);
  if (request.url !== '/') return { status: '404 Not Found', reason: 'another path than /' };
  const given = /^Bearer ([!-~]{1,500})$/.exec(authorization ?? '')?.[1];
  if (given === undefined) return { status: '401 Unauthorized', reason: 'it has no token' };
  // Of equal length whatever was given.
  const equal = timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)));
  return equal ? undefined : { status: '401 Unauthorized', reason: 'its token is wrong' };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
