/** The client against daemons of other versions and other manners, which a server of this test stands for. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { DaemonClient, type DaemonStatus } from '../../../../extension/daemon/client.ts';
import { DAEMON_ERRORS, type DaemonRecord, daemonPlaces } from '../../../../protocol/daemon.ts';

interface Request {
  id?: number;
  method: string;
  params: Record<string, unknown>;
}
type Answer = (request: Request, record: DaemonRecord, socket: WebSocket) => Record<string, unknown> | undefined;

/** A server that answers as it is told, with a record of it in a state folder of its own. */
async function stranger(answer: Answer, change: Partial<DaemonRecord> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'arrl client-')));
  const folder = join(root, 'workspace');
  mkdirSync(folder);
  const environment = { ...process.env, AGENTIC_ROBO_RL_STATE: join(root, 'state') };
  const places = daemonPlaces(folder, { platform: process.platform, home: root, environment });
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise((done) => server.once('listening', done));
  const record: DaemonRecord = {
    pid: process.pid,
    port: (server.address() as AddressInfo).port,
    token: 't'.repeat(64),
    startedAt: '2026-01-01T00:00:00.000Z',
    workspace: folder,
    protocol: 1,
    version: '0.1.0',
    host: hostname(),
    ...change,
  };
  mkdirSync(dirname(places.record), { recursive: true });
  writeFileSync(places.record, JSON.stringify(record));
  chmodSync(places.record, 0o600);
  const asked: string[] = [];
  server.on('connection', (socket, request) => {
    expect(request.headers.authorization).toBe(`Bearer ${record.token}`);
    expect(request.headers.origin).toBeUndefined();
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Request;
      asked.push(message.method);
      const told = answer(message, record, socket);
      if (told) socket.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...told }));
    });
  });
  const said: string[] = [];
  const statuses: DaemonStatus[] = [];
  // What would be started where nobody can be attached to.
  const script = join(root, 'daemon.mjs');
  writeFileSync(script, `console.log(JSON.stringify({ type: 'failed', message: 'started a new one' }));`);
  const client = new DaemonClient({
    workspace: folder,
    version: '0.1.0',
    program: { script, environment },
    log: (text) => said.push(text),
  });
  client.onStatus((status) => statuses.push(status));
  onTestFinished(() => {
    client.dispose();
    for (const socket of server.clients) socket.terminate();
    server.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { client, server, record, places, asked, said, statuses, script };
}

const hello = ({ pid, startedAt, workspace }: DaemonRecord, more: Record<string, unknown> = {}) => ({
  result: { protocol: 1, version: '0.1.0', pid, startedAt, workspace, ...more },
});

describe('attaching', () => {
  it('to a daemon of this version', async () => {
    const { client, statuses } = await stranger(({ method }, record) =>
      method === 'daemon.hello' ? hello(record) : { result: [] },
    );
    expect(await client.attach()).toBe(true);
    expect(statuses.map(({ state }) => state)).toEqual(['starting', 'ready']);
    expect(client.status).toMatchObject({ pid: process.pid, version: '0.1.0', otherVersion: false });
    expect(await client.request('runs.list', {})).toEqual([]);
  });

  it('a daemon of another version that speaks our protocol is used, and told apart', async () => {
    const { client } = await stranger((_, record) => hello(record, { version: '0.0.9' }));
    await client.start();
    expect(client.status).toMatchObject({ state: 'ready', version: '0.0.9', otherVersion: true });
  });

  it('one that speaks another protocol is incompatible, and can be asked to end', async () => {
    const old = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    onTestFinished(() => void old.kill('SIGKILL'));
    const { client, asked } = await stranger(
      ({ method }) => {
        if (method === 'daemon.shutdown') {
          old.kill('SIGKILL');
          return { result: { accepted: true } };
        }
        const data = { kind: 'incompatible', protocol: 7, version: '9.0.0' };
        return { error: { code: DAEMON_ERRORS.incompatible, message: 'this daemon speaks protocol 7', data } };
      },
      { pid: old.pid },
    );
    await expect(client.start()).rejects.toThrow('this daemon speaks protocol 7');
    expect(client.status).toMatchObject({ state: 'incompatible', version: '9.0.0' });
    await expect(client.request('runs.list', {})).rejects.toThrow('the daemon is incompatible');
    await expect(client.ready()).rejects.toThrow('the daemon is incompatible: this daemon speaks protocol 7');
    await client.stop('idle');
    expect(asked).toEqual(['daemon.hello', 'daemon.shutdown']);
    expect(client.status).toEqual({ state: 'stopped' });
  });

  it.each([
    ['start time', { startedAt: '2026-02-02T00:00:00.000Z' }],
    ['workspace', { workspace: '/elsewhere' }],
    ['process', { pid: 1 }],
  ])('not to one with another %s than its record says', async (_, other) => {
    const { client } = await stranger((_request, record) => hello(record, other));
    await expect(client.start()).rejects.toThrow('the daemon that answers is not the one of the record');
    expect(client.status.state).toBe('failed');
  });

  it.each([
    ['of another workspace', { workspace: '/elsewhere' }],
    ['of another machine', { host: 'another-machine' }],
    ['of a process that has ended', { pid: 2 ** 22 - 1 }],
    ['with a short token', { token: 'short' }],
  ])('not by a record %s', async (_, change) => {
    const { client, asked } = await stranger((_request, record) => hello(record), change);
    expect(await client.attach()).toBe(false);
    expect(client.status.state).toBe('stopped');
    expect(asked).toEqual([]);
    await expect(client.start()).rejects.toThrow('started a new one');
    expect(client.status).toMatchObject({ state: 'failed', message: 'started a new one' });
  });

  it.each([
    ['prints no JSON', 'console.log("hello")', 'JSON'],
    ['dies', 'console.error("out of luck"); process.exit(3)', 'the daemon ended at once (exit code 3): out of luck'],
    ['says something else', 'console.log("{}")', 'type'],
  ])('fails with the reason when the program %s', async (_, source, message) => {
    const { client, places, script } = await stranger(() => undefined);
    rmSync(places.record);
    writeFileSync(script, source);
    await expect(client.start()).rejects.toThrow(message);
    expect(client.status.state).toBe('failed');
  });
});

describe('a connection', () => {
  it('refuses results and leaves out notifications that are not as agreed', async () => {
    const { client, said } = await stranger(({ method }, record, socket) => {
      if (method === 'daemon.hello') return hello(record);
      socket.send('no json');
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'run.exploded', params: {} }));
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'run.damaged', params: { run: 7 } }));
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 99, result: 'nobody asked' }));
      return { result: [{ run: 'without anything else' }] };
    });
    await client.start();
    let told = 0;
    client.on('run.damaged', () => told++);
    await expect(client.request('runs.list', {})).rejects.toThrow(/answer to runs.list is not as agreed: 0\.directory/);
    expect(told).toBe(0);
    expect(said).toEqual([
      expect.stringContaining('could not be read'),
      expect.stringContaining('unknown notification run.exploded'),
      expect.stringContaining('run.damaged of the daemon is not as agreed'),
    ]);
    await expect(client.request('runs.stop', { run: 'a', mode: 'later' as never })).rejects.toThrow('runs.stop: mode');
  });

  it('that is lost fails what was asked, and is taken up again', async () => {
    let hellos = 0;
    const { client, statuses, asked } = await stranger(({ method }, record, socket) => {
      if (method === 'daemon.hello') {
        hellos++;
        return hello(record);
      }
      if (hellos === 1) socket.terminate();
      return { result: [] };
    });
    await client.start();
    await expect(client.request('runs.list', {})).rejects.toThrow('ended before runs.list was answered');
    await client.ready();
    expect(statuses.map(({ state }) => state)).toEqual(['starting', 'ready', 'reconnecting', 'ready']);
    expect(await client.request('runs.list', {})).toEqual([]);
    expect(asked).toEqual(['daemon.hello', 'runs.list', 'daemon.hello', 'runs.list']);
  });

  it('tells the daemon what is given up', async () => {
    const { client, asked } = await stranger(({ method }, record) => {
      if (method === 'daemon.hello') return hello(record);
      return undefined;
    });
    await client.start();
    const abort = new AbortController();
    const asking = client.request('doctor.run', {}, abort.signal);
    asking.catch(() => {});
    await expect.poll(() => asked).toContain('doctor.run');
    abort.abort();
    await expect.poll(() => asked).toContain('rpc.cancel');
  });

  it('calls that come at once start one attempt', async () => {
    const { client, asked } = await stranger((_, record) => hello(record));
    await Promise.all([client.attach(), client.start(), client.start(), client.attach()]);
    expect(asked).toEqual(['daemon.hello']);
  });
});
