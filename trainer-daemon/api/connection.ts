/** One client: its requests in, answers and notifications out, within bounds. */
import type { WebSocket } from 'ws';
import {
  clientNotifications,
  type DaemonMethod,
  type DaemonNotification,
  daemonMethods,
  LARGEST_ANSWER,
  MOST_REQUESTS,
  type NotificationParams,
  rpcRequestSchema,
} from '../../protocol/daemon.ts';
import type { Outlet } from './follow.ts';
import type { Log } from './log.ts';
import { RpcError } from './rpc-error.ts';

/** Bytes that wait to be sent, from which no further notification of a run is added. */
const FULL = 1024 * 1024;
/** Bytes that wait to be sent, from which a client is given up: it asks and does not read. */
const HOPELESS = 2 * LARGEST_ANSWER;
/** Broken messages after which a client is given up. */
const MOST_BROKEN = 20;

/** Close codes of WebSocket (RFC 6455, section 7.4). */
const POLICY_VIOLATION = 1008;

export type RequestId = number | string;

/** Does the work of a request. Parameters are checked; what it gives is sent as the result. */
export type Dispatch = (
  connection: Connection,
  method: DaemonMethod,
  params: unknown,
  signal: AbortSignal,
) => Promise<unknown>;

export class Connection implements Outlet {
  /** Protocol version agreed on; undefined before hello. */
  protocol: number | undefined;
  /** What the client calls itself. */
  name = 'a client';
  readonly number: number;
  private readonly socket: WebSocket;
  private readonly log: Log;
  private readonly dispatch: Dispatch;
  private readonly requests = new Map<RequestId, AbortController>();
  private roomWanted: (() => void)[] = [];
  private broken = 0;
  private answered = true;

  constructor(number: number, socket: WebSocket, log: Log, dispatch: Dispatch) {
    this.number = number;
    this.socket = socket;
    this.log = log;
    this.dispatch = dispatch;
    socket.on('message', (data, binary) => this.take(binary ? undefined : data.toString()));
    socket.on('pong', () => {
      this.answered = true;
    });
    socket.on('error', (error) => this.log.write(`${this}: ${error.message}`));
    socket.on('close', () => {
      for (const request of this.requests.values()) request.abort();
      this.roomWanted = [];
    });
  }

  toString(): string {
    return `client ${this.number} (${this.name})`;
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  get full(): boolean {
    return this.socket.bufferedAmount >= FULL;
  }

  onRoom(callback: () => void): void {
    this.roomWanted.push(callback);
  }

  notify<N extends DaemonNotification>(method: N, params: NotificationParams<N>): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Pings the client; one that has not answered the ping before is dropped. */
  heartbeat(): void {
    if (!this.open) return;
    if (!this.answered) {
      this.log.write(`${this}: no sign of life, dropped`);
      this.socket.terminate();
      return;
    }
    this.answered = false;
    this.socket.ping();
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  private take(text: string | undefined): void {
    let value: unknown;
    try {
      if (text === undefined) throw new Error('a binary message; messages are JSON texts');
      value = JSON.parse(text);
    } catch (error) {
      this.refuse(new RpcError('parse', (error as Error).message));
      return;
    }
    const parsed = rpcRequestSchema.safeParse(value);
    if (!parsed.success) {
      const id = (value as { id?: unknown } | null)?.id;
      const { path, message } = parsed.error.issues[0];
      const what = path.length > 0 ? `${path.join('.')}: ${message}` : message;
      this.refuse(new RpcError('request', `no request of JSON-RPC 2.0: ${what}`), isId(id) ? id : null);
      return;
    }
    const { id, method, params = {} } = parsed.data;
    if (id === undefined) this.takeNotification(method, params);
    else
      void this.answer(id, method, params).catch((error: Error) =>
        this.log.write(`${this}: ${method} was not answered: ${error.stack}`),
      );
  }

  private takeNotification(method: string, params: unknown): void {
    if (method !== 'rpc.cancel') {
      this.log.write(`${this}: unknown notification`);
      return;
    }
    const parsed = clientNotifications['rpc.cancel'].safeParse(params);
    if (parsed.success) this.requests.get(parsed.data.id)?.abort();
  }

  private async answer(id: RequestId, method: string, params: unknown): Promise<void> {
    const abort = new AbortController();
    if (this.requests.has(id)) {
      this.fail(id, method, new RpcError('request', `the id ${JSON.stringify(id)} is at work already`));
      return;
    }
    if (this.requests.size >= MOST_REQUESTS) {
      this.fail(id, method, new RpcError('tooMany', `more than ${MOST_REQUESTS} requests at a time`));
      return;
    }
    this.requests.set(id, abort);
    try {
      const result = await this.dispatch(this, knownMethod(method), params, abort.signal);
      const text = JSON.stringify({ jsonrpc: '2.0', id, result });
      if (text.length > LARGEST_ANSWER / 2 && Buffer.byteLength(text) > LARGEST_ANSWER)
        throw new RpcError('tooLarge', `the answer has more than ${LARGEST_ANSWER} bytes; ask for less`);
      this.sendText(text);
    } catch (error) {
      this.fail(id, method, abort.signal.aborted ? new RpcError('cancelled', 'the request was cancelled') : error);
    } finally {
      this.requests.delete(id);
    }
  }

  private fail(id: RequestId, method: string, error: unknown): void {
    let told = error;
    if (!(told instanceof RpcError)) {
      this.log.write(`${this}: ${method}: ${error instanceof Error ? error.stack : String(error)}`);
      told = new RpcError('internal', `${method}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.send({ jsonrpc: '2.0', id, error: told });
  }

  /** A message that is no request. */
  private refuse(error: RpcError, id: RequestId | null = null): void {
    this.send({ jsonrpc: '2.0', id, error });
    if (++this.broken < MOST_BROKEN) return;
    this.log.write(`${this}: ${this.broken} broken messages, closed`);
    this.close(POLICY_VIOLATION, 'too many broken messages');
  }

  private send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }

  private sendText(text: string): void {
    if (!this.open) return;
    if (this.socket.bufferedAmount > HOPELESS) {
      this.log.write(`${this}: asks and does not read, dropped`);
      this.socket.terminate();
      return;
    }
    this.socket.send(text, () => this.sent());
  }

  private sent(): void {
    if (this.full || this.roomWanted.length === 0) return;
    const wanted = this.roomWanted;
    this.roomWanted = [];
    for (const callback of wanted) callback();
  }
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= 100 : Number.isInteger(id);
}

/** @throws RpcError `method`. */
function knownMethod(method: string): DaemonMethod {
  if (!Object.hasOwn(daemonMethods, method)) throw new RpcError('method', `there is no method "${method}"`);
  return method as DaemonMethod;
}
