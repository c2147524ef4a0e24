/** A client of the debug adapter, for tests: VS Code's own, over a socket to an adapter in this process. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { onTestFinished } from 'vitest';
import { ReplayDebugAdapter } from '../../../../extension/replay/debug/adapter.ts';
import { type AdapterHost, english } from '../../../../extension/replay/debug/host.ts';
import { ReplaySession } from '../../../../extension/replay/session.ts';

export interface Stopped {
  reason: string;
  threadId: number;
  description?: string;
  text?: string;
  hitBreakpointIds?: number[];
  /** Number of the event among all that the adapter sent. */
  seq: number;
}

export class Client extends DebugClient {
  /** Names of events, in order. */
  readonly heard: string[] = [];
  /** Of the episode that is open. */
  session: ReplaySession | undefined;
  private readonly stops: Stopped[] = [];
  private waiting: ((stopped: Stopped) => void) | undefined;

  constructor() {
    super('node', 'unused', 'planner-replay');
    this.defaultTimeout = 20_000;
    this.on('stopped', ({ body, seq }: Dap.StoppedEvent) => {
      const { waiting } = this;
      this.waiting = undefined;
      const stopped = { ...body, seq } as Stopped;
      if (waiting) waiting(stopped);
      else this.stops.push(stopped);
    });
    for (const event of ['stopped', 'terminated', 'breakpoint', 'thread', 'invalidated', 'output'])
      this.on(event, () => this.heard.push(event));
  }

  /** The next `stopped`, be it here already. */
  stopped(): Promise<Stopped> {
    const stop = this.stops.shift();
    return stop ? Promise.resolve(stop) : new Promise((resolve) => (this.waiting = resolve));
  }

  get unheardStops(): number {
    return this.stops.length;
  }

  /** Sends a request that moves, and waits until it has: the answer must come first. */
  async move(command: string, args: object = {}): Promise<Stopped> {
    const { seq } = (await this.send(command, { threadId: 1, ...args })) as Dap.Response;
    const stopped = await this.stopped();
    if (stopped.seq < seq) throw new Error(`"stopped" came before the response of ${command}`);
    return stopped;
  }

  /** @returns the answer's body. */
  async ask<T>(command: string, args: object = {}): Promise<T> {
    return ((await this.send(command, args)) as Dap.Response).body as T;
  }

  /** Names of the frames of a thread. */
  async frames(threadId = 1): Promise<Dap.StackFrame[]> {
    return (await this.ask<Dap.StackTraceResponse['body']>('stackTrace', { threadId })).stackFrames;
  }

  /** `turn 1`, or `turn 1 > pick {...}` at a tool call. */
  async at(threadId = 1): Promise<string> {
    const frames = (await this.frames(threadId)).filter(({ presentationHint }) => presentationHint !== 'subtle');
    return frames
      .map(({ name }) => name)
      .reverse()
      .join(' > ');
  }

  async scopes(frame = 0, threadId = 1): Promise<Record<string, Dap.Scope>> {
    const { id } = (await this.frames(threadId))[frame];
    const { scopes } = await this.ask<Dap.ScopesResponse['body']>('scopes', { frameId: id });
    return Object.fromEntries(scopes.map((scope) => [scope.name, scope]));
  }

  async variables(variablesReference: number, page: object = {}): Promise<Dap.Variable[]> {
    const args = { variablesReference, ...page };
    return (await this.ask<Dap.VariablesResponse['body']>('variables', args)).variables;
  }

  /** Values of a scope by name, as they are shown. */
  async values(scope: string, frame = 0): Promise<Record<string, string>> {
    const found = (await this.scopes(frame))[scope];
    const all = await this.variables(found.variablesReference);
    return Object.fromEntries(all.map(({ name, value }) => [name, value]));
  }

  async evaluate(expression: string, context = 'repl'): Promise<string> {
    return (await this.ask<Dap.EvaluateResponse['body']>('evaluate', { expression, context })).result;
  }
}

/** An adapter without an episode yet. */
export async function connect(host: Partial<AdapterHost> = {}): Promise<Client> {
  const client = new Client();
  const server = createServer((socket) => {
    const adapter = new ReplayDebugAdapter({
      open: async (target) => {
        client.session = await ReplaySession.open(target, () => {});
        return client.session;
      },
      release: (session) => session.close(),
      resolveRun: (run) => run,
      folders: () => [],
      documents: true,
      language: english,
      log: () => {},
      ...host,
    });
    adapter.start(socket, socket);
    socket.on('close', () => void adapter.release());
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await client.start((server.address() as AddressInfo).port);
  onTestFinished(async () => {
    await client.stop().catch(() => {});
    server.close();
  });
  return client;
}

/** An adapter that stands at the entry of an episode. */
export async function replay(
  run: string,
  args: object = {},
  { host = {}, initialize = {} }: { host?: Partial<AdapterHost>; initialize?: object } = {},
): Promise<Client> {
  const client = await connect(host);
  const initialized = client.waitForEvent('initialized');
  await client.initializeRequest({
    adapterID: 'planner-replay',
    linesStartAt1: true,
    columnsStartAt1: true,
    ...initialize,
  });
  await client.launchRequest({ run, episode: 'e0', ...args } as object as Dap.LaunchRequestArguments);
  await initialized;
  await client.ask('configurationDone');
  const entry = await client.stopped();
  if (entry.reason !== 'entry') throw new Error(`stopped for ${entry.reason}`);
  return client;
}
