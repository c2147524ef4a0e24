/** One connection to a daemon: requests with checked results, notifications, and a watch on silence. */
import { WebSocket } from 'ws';
import {
  type DaemonErrorName,
  type DaemonMethod,
  type DaemonNotification,
  type DaemonParams,
  type DaemonRecord,
  type DaemonResult,
  daemonMethods,
  daemonNotifications,
  LARGEST_ANSWER,
  type NotificationParams,
  type RpcAnswer,
  rpcAnswerSchema,
  SILENCE_SECONDS,
} from '../../protocol/daemon.ts';

const HANDSHAKE_MS = 10_000;

/** The daemon's answer was an error. */
export class DaemonError extends Error {
  readonly code: number;
  /** Name of the code in `DAEMON_ERRORS`, where it tells one. */
  readonly kind: DaemonErrorName | string;
  readonly data: NonNullable<Extract<RpcAnswer, { error: unknown }>['error']['data']>;

  constructor({ code, message, data }: Extract<RpcAnswer, { error: unknown }>['error']) {
    super(message);
    this.name = 'DaemonError';
    this.code = code;
    this.kind = data?.kind ?? 'unknown';
    this.data = data ?? { kind: 'unknown' };
  }
}

/** There is no connection, or it ended before the answer came. What was asked for may have been done. */
export class DaemonUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DaemonUnavailable';
  }
}

export interface ConnectionOptions {
  onNotification<N extends DaemonNotification>(method: N, params: NotificationParams<N>): void;
  /** Called once, when the connection is over. */
  onClose(reason: string): void;
  log(text: string): void;
  silenceSeconds?: number;
}

interface Waiting {
  method: DaemonMethod;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class RpcConnection {
  private readonly socket: WebSocket;
  private readonly options: ConnectionOptions;
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;
  private silence: NodeJS.Timeout | undefined;
  private over = false;

  private constructor(socket: WebSocket, options: ConnectionOptions) {
    this.socket = socket;
    this.options = options;
    socket.on('message', (data, binary) => {
      this.heard();
      if (!binary) this.take(data.toString());
    });
    socket.on('ping', () => this.heard());
    socket.on('error', (error) => this.end(error.message));
    socket.on('close', (code, reason) => this.end(reason.toString() || `closed (${code})`));
    this.heard();
  }

  /** @throws DaemonUnavailable when nobody answers at the record's port, or does not let us in. */
  static async open(record: DaemonRecord, options: ConnectionOptions): Promise<RpcConnection> {
    const socket = new WebSocket(`ws://127.0.0.1:${record.port}/`, {
      headers: { authorization: `Bearer ${record.token}` },
      maxPayload: LARGEST_ANSWER,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (error) => reject(new DaemonUnavailable(error.message)));
    });
    return new RpcConnection(socket, options);
  }

  /**
   * Asks and waits. Parameters are checked before they are sent, the result before it is given.
   * @throws DaemonError, DaemonUnavailable; Error when the answer is not what the contract says.
   */
  async request<M extends DaemonMethod>(
    method: M,
    params: DaemonParams<M>,
    signal?: AbortSignal,
  ): Promise<DaemonResult<M>> {
    const checked = daemonMethods[method].params.safeParse(params);
    if (!checked.success) {
      const { path, message } = checked.error.issues[0];
      throw new Error(`${method}: ${path.join('.')}: ${message}`);
    }
    if (this.over) throw new DaemonUnavailable('there is no connection to the daemon');
    const id = this.next++;
    const cancel = () => this.send({ jsonrpc: '2.0', method: 'rpc.cancel', params: { id } });
    const answer = new Promise<unknown>((resolve, reject) => {
      this.waiting.set(id, { method, resolve, reject });
    });
    this.send({ jsonrpc: '2.0', id, method, params: params as Record<string, unknown> });
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const result = daemonMethods[method].result.safeParse(await answer);
      if (result.success) return result.data as DaemonResult<M>;
      const { path, message } = result.error.issues[0];
      throw new Error(`the daemon's answer to ${method} is not as agreed: ${path.join('.')}: ${message}`);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Closes the connection; requests that wait fail. */
  close(): void {
    this.socket.close();
    // A socket whose other side does not answer goes when the silence is noticed; nobody waits for it.
    this.end('closed here');
  }

  private send(message: unknown): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private take(text: string): void {
    let answer: RpcAnswer;
    try {
      answer = rpcAnswerSchema.parse(JSON.parse(text));
    } catch (error) {
      this.options.log(`a message of the daemon could not be read: ${(error as Error).message.slice(0, 500)}`);
      return;
    }
    if ('method' in answer) {
      this.takeNotification(answer.method, answer.params);
      return;
    }
    if (answer.id === null) {
      this.options.log(`the daemon could not read a message: ${'error' in answer ? answer.error.message : ''}`);
      return;
    }
    const waiting = this.waiting.get(Number(answer.id));
    if (!waiting) return;
    this.waiting.delete(Number(answer.id));
    if ('error' in answer) waiting.reject(new DaemonError(answer.error));
    else waiting.resolve(answer.result);
  }

  private takeNotification(method: string, params: unknown): void {
    if (!Object.hasOwn(daemonNotifications, method)) {
      this.options.log(`the daemon sent an unknown notification ${method}`);
      return;
    }
    const name = method as DaemonNotification;
    const checked = daemonNotifications[name].safeParse(params);
    if (checked.success) this.options.onNotification(name, checked.data);
    else this.options.log(`${method} of the daemon is not as agreed: ${checked.error.issues[0].message}`);
  }

  private heard(): void {
    clearTimeout(this.silence);
    if (this.over) return;
    const seconds = this.options.silenceSeconds ?? SILENCE_SECONDS;
    this.silence = setTimeout(() => {
      this.socket.terminate();
      this.end(`nothing was heard for ${seconds} s`);
    }, seconds * 1000);
    this.silence.unref();
  }

  private end(reason: string): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.silence);
    for (const { method, reject } of this.waiting.values())
      reject(new DaemonUnavailable(`the connection to the daemon ended before ${method} was answered: ${reason}`));
    this.waiting.clear();
    this.options.onClose(reason);
  }
}
