/** A bare WebSocket to a daemon, to send it what no client of ours would. */
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { DaemonRecord } from '../../protocol/daemon.ts';

export interface Raw {
  socket: WebSocket;
  /** What came so far, parsed. */
  received: Answer[];
  send(message: unknown): void;
  /** Sends a request and resolves with its answer. */
  ask(method: string, params?: unknown): Promise<Answer>;
  /** Resolves with what comes next and is wanted, or has come; rejects when the connection ends first. */
  until(wanted: (message: Answer) => boolean): Promise<Answer>;
  /** Resolves with the code when the daemon closes the connection. */
  closed: Promise<number>;
}

export interface Answer {
  id?: number | string | null;
  result?: unknown;
  error?: { code: number; message: string; data?: { kind: string } };
  method?: string;
  params?: Record<string, unknown>;
}

/** Connects; rejects with the HTTP status when it is refused. */
export async function rawClient(
  record: Pick<DaemonRecord, 'port' | 'token'>,
  headers: Record<string, string> = {},
  path = '/',
): Promise<Raw> {
  const socket = new WebSocket(`ws://127.0.0.1:${record.port}${path}`, {
    headers: { authorization: `Bearer ${record.token}`, ...headers },
  });
  const received: Answer[] = [];
  const watchers = new Set<(message: Answer) => void>();
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Answer;
    received.push(message);
    for (const watcher of watchers) watcher(message);
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_, response) => reject(new Error(`refused: ${response.statusCode}`)));
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  onTestFinished(() => socket.terminate());
  const send = (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  const until = (wanted: (message: Answer) => boolean) =>
    new Promise<Answer>((resolve, reject) => {
      void closed.then((code) => reject(new Error(`the connection ended (${code})`)));
      const known = received.find(wanted);
      if (known) return resolve(known);
      const watcher = (message: Answer) => {
        if (!wanted(message)) return;
        watchers.delete(watcher);
        resolve(message);
      };
      watchers.add(watcher);
    });
  let next = 1;
  return {
    socket,
    received,
    closed,
    send,
    until,
    ask(method, params = {}) {
      const id = next++;
      send({ jsonrpc: '2.0', id, method, params });
      return until((message) => message.id === id);
    },
  };
}

/** The same, after hello. */
export async function greeted(record: DaemonRecord): Promise<Raw> {
  const raw = await rawClient(record);
  await raw.ask('daemon.hello', { protocol: 1, client: 'test' });
  return raw;
}
