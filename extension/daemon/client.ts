/**
 * The editor's side of the daemon of one workspace folder: finds or starts it, stays connected, and says how things
 * are. Knows nothing of VS Code; what it needs of its surroundings is {@link ClientOptions}.
 */
import {
  DAEMON_PROTOCOL,
  type DaemonMethod,
  type DaemonNotification,
  type DaemonParams,
  type DaemonResult,
  type NotificationParams,
  OLDEST_DAEMON_PROTOCOL,
} from '../../protocol/daemon.ts';
import { Backoff } from './backoff.ts';
import { type Disposable, Emitter } from './emitter.ts';
import { type DaemonProgram, launchDaemon } from './launch.ts';
import { lives, placesFor, readRecord } from './record.ts';
import { DaemonError, DaemonUnavailable, RpcConnection } from './rpc.ts';

/**
 * `stopped`: none is wanted, or it left by itself. `reconnecting`: its process lives, the connection was lost.
 * `failed`: it could not be started, or died. `incompatible`: another version of it serves the workspace.
 */
export type DaemonState = 'stopped' | 'starting' | 'ready' | 'reconnecting' | 'failed' | 'incompatible';

export interface DaemonStatus {
  state: DaemonState;
  /** Why, for `failed`, `incompatible`, `reconnecting` and a daemon that left. */
  message?: string;
  /** Of the daemon, where it is known. */
  version?: string;
  pid?: number;
  /** Speaks our protocol, but is of another version of the package than we are: a restart is worth offering. */
  otherVersion?: boolean;
}

export interface ClientOptions {
  /** Workspace folder. */
  workspace: string;
  program: DaemonProgram;
  /** Version of the package that the client belongs to. */
  version: string;
  log(text: string): void;
  silenceSeconds?: number;
}

/** A daemon that has just been started, or is just leaving, gets this long until its record is as it says. */
const RECORD_MS = 15_000;
/** A daemon that was asked to end, with a run at work, gets this long. */
const LONGEST_END_MS = 90_000;
const LOOK_MS = 100;
const MOST_ATTEMPTS = 3;

export class DaemonClient implements Disposable {
  private readonly options: ClientOptions;
  private readonly statuses: Emitter<DaemonStatus>;
  private readonly notifications: { [N in DaemonNotification]?: Emitter<NotificationParams<N>> } = {};
  private readonly backoff: Backoff;
  private connection: RpcConnection | undefined;
  private current: DaemonStatus = { state: 'stopped' };
  /** What is being tried at the moment, and whether a daemon is started for it where there is none. */
  private trying: { work: Promise<void>; launch: boolean } | undefined;
  private leaving: string | undefined;
  /** Why there was no connection, at the last attempt. */
  private obstacle: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private disposed = false;

  constructor(options: ClientOptions) {
    this.options = options;
    this.statuses = new Emitter((error) => options.log(`a listener failed: ${error.stack}`));
    this.backoff = new Backoff(options.workspace, process.pid);
  }

  get status(): DaemonStatus {
    return this.current;
  }

  onStatus(listener: (status: DaemonStatus) => void): Disposable {
    return this.statuses.on(listener);
  }

  on<N extends DaemonNotification>(method: N, listener: (params: NotificationParams<N>) => void): Disposable {
    const listeners = this.notifications as { [K in N]?: Emitter<NotificationParams<K>> };
    const failed = (error: Error) => this.options.log(`a listener of ${method} failed: ${error.stack}`);
    const emitter = listeners[method] ?? new Emitter<NotificationParams<N>>(failed);
    listeners[method] = emitter;
    return emitter.on(listener);
  }

  /** Attaches to the workspace's daemon without starting one. @returns whether there is one. */
  attach(): Promise<boolean> {
    return this.once(false);
  }

  /**
   * Attaches to the workspace's daemon, or starts it. Calls that come meanwhile wait for the same.
   * @throws DaemonUnavailable with the reason, which the status tells as well.
   */
  async start(): Promise<void> {
    await this.once(true);
    if (this.current.state !== 'ready') throw new DaemonUnavailable(this.current.message ?? 'there is no daemon');
  }

  /**
   * Resolves when the state is `ready`, after a lost connection too; starts nothing.
   * @throws DaemonUnavailable when it comes to another end.
   */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = ({ state, message }: DaemonStatus): boolean => {
        if (state === 'starting' || state === 'reconnecting') return false;
        if (state === 'ready') resolve();
        else reject(new DaemonUnavailable(`the daemon is ${state}${why(message)}`));
        return true;
      };
      if (look(this.current)) return;
      const listening = this.onStatus((status) => {
        if (look(status)) listening.dispose();
      });
    });
  }

  /** @throws DaemonUnavailable unless the state is `ready`; DaemonError with the daemon's reason. */
  async request<M extends DaemonMethod>(
    method: M,
    params: DaemonParams<M>,
    signal?: AbortSignal,
  ): Promise<DaemonResult<M>> {
    if (!this.connection || !this.isReady())
      throw new DaemonUnavailable(`the daemon is ${this.current.state}${why(this.current.message)}`);
    return this.connection.request(method, params, signal);
  }

  /**
   * Ends the daemon, also one of another version.
   * @param mode `idle` is refused while a run is at work; `now` stops the run first, so that it can be resumed.
   * @throws DaemonError `busy`; Error when it does not end within a minute and a half.
   */
  async stop(mode: 'idle' | 'now'): Promise<void> {
    await this.trying?.work;
    const record = await this.record();
    if (record) {
      const connection =
        this.current.state === 'ready' && this.connection
          ? this.connection
          : await RpcConnection.open(record, silent(this.options.log)).catch(() => undefined);
      if (connection) {
        this.leaving = 'stopped here';
        try {
          await connection.request('daemon.shutdown', { mode });
        } catch (error) {
          this.leaving = undefined;
          if (error instanceof DaemonError) throw error;
        } finally {
          if (connection !== this.connection) connection.close();
        }
        // A run at work takes its time to end.
        const end = Date.now() + LONGEST_END_MS;
        while (lives(record.pid)) {
          if (Date.now() > end) throw new Error(`the daemon (process ${record.pid}) was asked to end and goes on`);
          await pause(LOOK_MS);
        }
      }
    }
    this.drop();
    this.set({ state: 'stopped' });
  }

  /** {@link stop}, then {@link start}. */
  async restart(mode: 'idle' | 'now'): Promise<void> {
    await this.stop(mode);
    await this.start();
  }

  /** Lets go of the daemon, which goes on. */
  dispose(): void {
    this.disposed = true;
    this.drop();
    this.set({ state: 'stopped' });
  }

  private async once(launch: boolean): Promise<boolean> {
    if (this.disposed) throw new DaemonUnavailable('the client was disposed of');
    if (this.isReady()) return true;
    const before = this.trying;
    if (before) {
      await before.work;
      if (before.launch || !launch) return this.isReady();
    }
    clearTimeout(this.timer);
    if (!this.isReady()) await this.tryTo(() => this.connect(launch), launch);
    return this.isReady();
  }

  private isReady(): boolean {
    return this.current.state === 'ready';
  }

  /** One attempt at a time; who comes meanwhile gets the one under way. */
  private tryTo(work: () => Promise<void>, launch: boolean): Promise<void> {
    if (this.trying) return this.trying.work;
    const trying = {
      launch,
      work: Promise.resolve()
        .then(work)
        .finally(() => {
          this.trying = undefined;
        }),
    };
    this.trying = trying;
    return trying.work;
  }

  private async connect(launch: boolean): Promise<void> {
    this.set({ state: 'starting' });
    try {
      for (let attempt = 1; ; attempt++) {
        if (await this.join()) return;
        if (!launch) {
          this.set({ state: 'stopped' });
          return;
        }
        if (attempt > MOST_ATTEMPTS)
          throw new Error(`the workspace has a daemon, but it cannot be reached${why(this.obstacle)}`);
        const { program, workspace } = this.options;
        const line = await launchDaemon(program, workspace);
        if (line.type === 'failed') throw new Error(line.message);
        if (line.type === 'already-running') this.options.log(`attaching to ${line.holder}`);
        // The one that runs may be just beginning, or just leaving: then its record comes, or its lock goes.
        const end = Date.now() + RECORD_MS;
        while (!(await this.record()) && Date.now() < end && line.type === 'already-running') await pause(LOOK_MS);
      }
    } catch (error) {
      if (this.current.state !== 'incompatible') this.set({ state: 'failed', message: (error as Error).message });
    }
  }

  /** The record of the daemon, where it is to be believed. */
  private async record() {
    const places = await placesFor(this.options.workspace, this.options.program.environment);
    const reading = await readRecord(places);
    this.obstacle = reading.kind === 'disbelieved' ? `${places.record} is not used: ${reading.reason}` : undefined;
    if (this.obstacle !== undefined) this.options.log(this.obstacle);
    return reading.kind === 'found' ? reading.record : undefined;
  }

  /** Connects to the daemon that there is. @returns false when there is none. */
  private async join(): Promise<boolean> {
    const record = await this.record();
    if (!record) return false;
    let connection: RpcConnection;
    try {
      connection = await RpcConnection.open(record, {
        onNotification: (method, params) => this.told(method, params),
        onClose: (reason) => this.lost(connection, reason),
        log: this.options.log,
        silenceSeconds: this.options.silenceSeconds,
      });
    } catch (error) {
      this.obstacle = `nobody answers at port ${record.port}: ${(error as Error).message}`;
      this.options.log(this.obstacle);
      return false;
    }
    try {
      const hello = await connection.request('daemon.hello', {
        protocol: DAEMON_PROTOCOL,
        oldestProtocol: OLDEST_DAEMON_PROTOCOL,
        client: `extension ${this.options.version}`,
      });
      const same =
        hello.pid === record.pid && hello.startedAt === record.startedAt && hello.workspace === record.workspace;
      if (!same) throw new Error('the daemon that answers is not the one of the record');
      if (this.disposed) throw new Error('the client was disposed of');
      this.connection = connection;
      this.leaving = undefined;
      this.backoff.reset();
      const { version, pid } = hello;
      this.set({ state: 'ready', version, pid, otherVersion: version !== this.options.version });
      return true;
    } catch (error) {
      connection.close();
      if (error instanceof DaemonError && error.kind === 'incompatible') {
        const { version } = error.data;
        this.set({ state: 'incompatible', message: error.message, version, pid: record.pid });
        throw error;
      }
      if (error instanceof DaemonUnavailable) return false;
      throw error;
    }
  }

  private told<N extends DaemonNotification>(method: N, params: NotificationParams<N>): void {
    if (method === 'daemon.leaving')
      this.leaving = `the daemon has ended (${(params as NotificationParams<'daemon.leaving'>).reason})`;
    const listeners = this.notifications as { [K in N]?: Emitter<NotificationParams<K>> };
    listeners[method]?.fire(params);
  }

  /** The connection is over, and nobody here has closed it. */
  private lost(connection: RpcConnection, reason: string): void {
    if (connection !== this.connection) return;
    this.connection = undefined;
    if (this.leaving !== undefined) {
      this.set({ state: 'stopped', message: this.leaving });
      this.leaving = undefined;
      return;
    }
    this.options.log(`the connection was lost: ${reason}`);
    this.set({ ...this.current, state: 'reconnecting', message: reason });
    this.retry();
  }

  private retry(): void {
    this.timer = setTimeout(() => {
      void this.tryTo(() => this.rejoin(), false);
    }, this.backoff.next());
    this.timer.unref();
  }

  private async rejoin(): Promise<void> {
    const { pid } = this.current;
    try {
      if (await this.join()) return;
      if (this.disposed) return;
      if (pid !== undefined && lives(pid) && (await this.record())) {
        this.retry();
        return;
      }
      this.set({ state: 'failed', message: 'the daemon has ended unexpectedly; a run at work can be resumed', pid });
    } catch (error) {
      if (this.current.state !== 'incompatible') this.set({ state: 'failed', message: (error as Error).message, pid });
    }
  }

  private drop(): void {
    clearTimeout(this.timer);
    const { connection } = this;
    this.connection = undefined;
    connection?.close();
  }

  private set(status: DaemonStatus): void {
    if (status.state === 'stopped' && this.current.state === 'stopped' && status.message === this.current.message)
      return;
    this.current = status;
    this.statuses.fire(status);
  }
}

function silent(log: (text: string) => void) {
  return { onNotification: () => {}, onClose: () => {}, log };
}

function why(message: string | undefined): string {
  return message === undefined ? '' : `: ${message}`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
