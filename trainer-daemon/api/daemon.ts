/** The daemon of one workspace: its clients, its runs, and when it leaves. */
import type { WebSocket } from 'ws';
import {
  type CheckedParams,
  DAEMON_PROTOCOL,
  type DaemonMethod,
  type DaemonNotification,
  type DaemonResult,
  daemonMethods,
  HEARTBEAT_SECONDS,
  type NotificationParams,
  OLDEST_DAEMON_PROTOCOL,
} from '../../protocol/daemon.ts';
import { Connection } from './connection.ts';
import { RunFollower } from './follow.ts';
import { type Gate, openGate } from './gate.ts';
import type { Log } from './log.ts';
import { daemonMethodsOf, type Methods } from './methods.ts';
import { RpcError } from './rpc-error.ts';
import { RunShelf } from './run-shelf.ts';
import { RunSummaries } from './run-summaries.ts';
import { RunWatch } from './run-watch.ts';
import { ServedPlanners } from './served-planners.ts';
import { Trainer } from './trainer.ts';
import type { Workspace } from './workspace.ts';

export interface DaemonOptions {
  workspace: Workspace;
  log: Log;
  token: string;
  version: string;
  startedAt: string;
  logPath: string;
  /** Without clients and without a run at work it leaves after this long. */
  idleSeconds: number;
  heartbeatSeconds?: number;
}

/** Why the daemon leaves. */
export type Leaving = NotificationParams<'daemon.leaving'>['reason'];

/** Going away, RFC 6455. */
const GOING_AWAY = 1001;
const NO_HELLO = 1008;
/** Clients get this long to take the last messages. */
const FAREWELL_MS = 500;

/** Methods that need no agreement on a protocol version. */
const BEFORE_HELLO: DaemonMethod[] = ['daemon.hello', 'daemon.shutdown'];

export class Daemon {
  readonly workspace: Workspace;
  readonly summaries: RunSummaries;
  readonly shelf: RunShelf;
  readonly trainer: Trainer;
  readonly planners: ServedPlanners;
  /** Resolves when it wants to leave; `leave` then ends it. */
  readonly leaving: Promise<Leaving>;
  private readonly options: DaemonOptions;
  private readonly methods: Methods;
  private readonly watch: RunWatch;
  private readonly clients = new Map<Connection, Map<string, RunFollower>>();
  private readonly heartbeat: NodeJS.Timeout;
  /** Between two pings; the time that a new client has for its hello. */
  private readonly heartbeatMs: number;
  private gate: Gate | undefined;
  private count = 0;
  private idle: NodeJS.Timeout | undefined;
  private left = false;
  private wantsToLeave: (reason: Leaving) => void = () => {};

  constructor(options: DaemonOptions) {
    this.options = options;
    const { workspace, log } = options;
    this.workspace = workspace;
    this.leaving = new Promise((resolve) => {
      this.wantsToLeave = resolve;
    });
    this.summaries = new RunSummaries(workspace, () => this.trainer.active);
    this.shelf = new RunShelf(this.summaries);
    this.trainer = new Trainer(workspace, log, {
      grown: (directory) => void this.shelf.grown(directory),
      progress: (directory, tick) => {
        for (const followers of this.clients.values()) followers.get(directory)?.tick(tick);
      },
      changed: (directory) => void this.watch.look(directory),
      ended: (directory, ended) => {
        for (const followers of this.clients.values())
          followers.get(directory)?.end({ run: workspace.runName(directory), ...ended });
        this.lookIdle();
      },
      // Who asked may have gone meanwhile.
      settled: () => this.lookIdle(),
    });
    this.watch = new RunWatch(
      () => this.summaries.list(this.trainer.started),
      (directory) => this.summaries.summary(directory),
      (summary) => this.toAll('runs.changed', { summary }),
      (directory) => this.toAll('runs.removed', { run: workspace.runName(directory) }),
    );
    this.planners = new ServedPlanners(workspace, log, (served) => this.toAll('serving.changed', { served }));
    this.methods = daemonMethodsOf(this);
    this.heartbeatMs = (options.heartbeatSeconds ?? HEARTBEAT_SECONDS) * 1000;
    this.heartbeat = setInterval(() => {
      for (const client of this.clients.keys()) client.heartbeat();
    }, this.heartbeatMs);
    this.heartbeat.unref();
  }

  /** Opens the gate. @returns the port. */
  async listen(): Promise<number> {
    this.gate = await openGate({
      token: this.options.token,
      onClient: (socket) => this.welcome(socket),
      onRefused: (reason) => this.options.log.write(`refused a connection: ${reason}`),
    });
    this.lookIdle();
    return this.gate.port;
  }

  /** Agrees on a protocol version. @throws RpcError `incompatible`. */
  hello(connection: Connection, params: CheckedParams<'daemon.hello'>): DaemonResult<'daemon.hello'> {
    const { version, startedAt, log } = this.options;
    connection.name = params.client;
    const agreed = Math.min(params.protocol, DAEMON_PROTOCOL);
    if (agreed < Math.max(params.oldestProtocol ?? params.protocol, OLDEST_DAEMON_PROTOCOL)) {
      log.write(`${connection}: speaks protocol ${params.protocol}, this daemon ${DAEMON_PROTOCOL}`);
      throw new RpcError(
        'incompatible',
        `this daemon (version ${version}) speaks protocol ${DAEMON_PROTOCOL}, the client ${params.protocol}; restart the daemon`,
        { protocol: DAEMON_PROTOCOL, version },
      );
    }
    if (connection.protocol === undefined) log.write(`${connection}: hello`);
    connection.protocol = agreed;
    return { protocol: agreed, version, workspace: this.workspace.folder, pid: process.pid, startedAt };
  }

  status(): DaemonResult<'daemon.status'> {
    const { version, startedAt, logPath } = this.options;
    const { active } = this.trainer;
    return {
      version,
      pid: process.pid,
      startedAt,
      clients: this.clients.size,
      active: active === undefined ? null : this.workspace.runName(active.directory),
      served: this.planners.list(),
      memory: process.memoryUsage.rss(),
      log: logPath,
    };
  }

  /** @throws RpcError `busy` when a run is at work and only an idle daemon is to leave. */
  askedToLeave(mode: 'idle' | 'now'): DaemonResult<'daemon.shutdown'> {
    if (mode === 'idle' && this.trainer.busy) {
      const run = this.trainer.active && this.workspace.runName(this.trainer.active.directory);
      throw new RpcError('busy', `${run ?? 'a run'} is at work; stop it first, or shut down "now"`, { run });
    }
    // The answer goes out first.
    setImmediate(() => this.wantsToLeave('shutdown'));
    return { accepted: true };
  }

  /** Follows a run for a client, from the entry after `fromSeq`. */
  subscribe(connection: Connection, directory: string, fromSeq: number): Promise<DaemonResult<'runs.subscribe'>> {
    return this.shelf.use(directory, async (open) => {
      await open.catchUp();
      const followers = this.clients.get(connection);
      const run = this.workspace.runName(directory);
      if (followers) {
        followers.get(directory)?.stop();
        const follower = new RunFollower(connection, run, open, fromSeq, () => this.shelf.snapshot(directory));
        followers.set(directory, follower);
        open.follow(follower);
        // The answer goes out first.
        setImmediate(() => follower.news());
      }
      return { run, seq: open.position };
    });
  }

  /** @returns whether the client followed it. */
  unsubscribe(connection: Connection, directory: string): boolean {
    const followers = this.clients.get(connection);
    followers?.get(directory)?.stop();
    return followers?.delete(directory) ?? false;
  }

  /** Ends the run at work so that it can be resumed, says farewell, and frees everything. */
  async leave(reason: Leaving): Promise<void> {
    if (this.left) return;
    this.left = true;
    this.options.log.write(`leaving (${reason})`);
    clearTimeout(this.idle);
    clearInterval(this.heartbeat);
    this.watch.stop();
    await this.trainer.end(reason === 'signal' ? 'signal' : 'now');
    await this.planners.close();
    this.toAll('daemon.leaving', { reason });
    const closed = this.gate?.close();
    for (const client of this.clients.keys()) client.close(GOING_AWAY, reason);
    const end = setTimeout(() => {
      for (const client of this.clients.keys()) client.terminate();
    }, FAREWELL_MS);
    await closed;
    clearTimeout(end);
    await this.shelf.close();
  }

  private welcome(socket: WebSocket): void {
    const { log } = this.options;
    const client = new Connection(++this.count, socket, log, (...asked) => this.dispatch(...asked));
    this.clients.set(client, new Map());
    clearTimeout(this.idle);
    const silent = setTimeout(() => {
      if (client.protocol === undefined) client.close(NO_HELLO, 'no hello');
    }, this.heartbeatMs);
    silent.unref();
    socket.on('close', () => {
      clearTimeout(silent);
      for (const follower of this.clients.get(client)?.values() ?? []) follower.stop();
      this.clients.delete(client);
      log.write(`${client}: gone`);
      this.lookIdle();
    });
    this.watch.start();
  }

  private async dispatch(
    connection: Connection,
    method: DaemonMethod,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (connection.protocol === undefined && !BEFORE_HELLO.includes(method))
      throw new RpcError('helloFirst', `"daemon.hello" comes before "${method}"`);
    if (this.left) throw new RpcError('leaving', 'the daemon is about to end');
    const checked = daemonMethods[method].params.safeParse(params);
    if (!checked.success) {
      const { path, message } = checked.error.issues[0];
      throw new RpcError('params', `${method}: ${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`);
    }
    const work = this.methods[method] as (params: unknown, asked: unknown) => unknown;
    return work(checked.data, { connection, signal });
  }

  private toAll<N extends DaemonNotification>(method: N, params: NotificationParams<N>): void {
    for (const client of this.clients.keys()) if (client.protocol !== undefined) client.notify(method, params);
  }

  /** Nobody is there and nothing is at work: it waits a while and leaves. */
  private lookIdle(): void {
    clearTimeout(this.idle);
    if (this.clients.size > 0 || this.trainer.busy || this.left) return;
    this.watch.stop();
    this.idle = setTimeout(() => {
      if (this.clients.size === 0 && !this.trainer.busy) this.wantsToLeave('idle');
    }, this.options.idleSeconds * 1000);
  }
}
