/** Who gets in, what is done with broken messages, and how many daemons there are. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { launchDaemon } from '../../extension/daemon/launch.ts';
import { lives } from '../../extension/daemon/record.ts';
import {
  DAEMON_ERRORS,
  type DaemonRecord,
  daemonMethods,
  LARGEST_REQUEST,
  MOST_REQUESTS,
} from '../../protocol/daemon.ts';
import { Random } from '../../protocol/random.ts';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import { bench, kill, state } from './daemon-bench.ts';
import { greeted, rawClient } from './daemon-raw.ts';

describe('who gets in', () => {
  it('nobody without the token, with an Origin, or under another name of this machine', async () => {
    const { client, record, log } = bench();
    await client().start();
    const { port, token } = record();
    const refused = (headers: Record<string, string>, given = token, path = '/') =>
      expect(rawClient({ port, token: given }, headers, path)).rejects;
    await refused(
      {},
      token.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    ).toThrow('refused: 401');
    await refused({}, '').toThrow('refused: 401');
    await refused({ authorization: `Basic ${token}` }).toThrow('refused: 401');
    await refused({ origin: `http://127.0.0.1:${port}` }).toThrow('refused: 403');
    await refused({ origin: 'null' }).toThrow('refused: 403');
    await refused({ host: `attacker.example:${port}` }).toThrow('refused: 403');
    await refused({ host: '127.0.0.1:1' }).toThrow('refused: 403');
    await refused({}, token, `/?token=${token}`).toThrow('refused: 404');
    const page = await new Promise<number | undefined>((done) => {
      get(`http://127.0.0.1:${port}/`, (response) => done(response.resume().statusCode));
    });
    expect(page).toBe(426);
    await rawClient({ port, token }, { host: `localhost:${port}` });
    expect(log()).toMatch(/refused a connection: its token is wrong/);
    expect(log()).toMatch(/refused a connection: it has an Origin/);
    expect(log()).not.toContain(token);
  });

  it('nothing is answered before hello, and a version that nobody speaks is told apart but may end the daemon', async () => {
    const { client, record } = bench();
    await client().start();
    const raw = await rawClient(record());
    expect((await raw.ask('runs.list')).error).toMatchObject({ code: DAEMON_ERRORS.helloFirst });
    const hello = await raw.ask('daemon.hello', { protocol: 99, oldestProtocol: 98, client: 'from the future' });
    expect(hello.error).toMatchObject({ code: DAEMON_ERRORS.incompatible, data: { protocol: 1, version: '0.1.0' } });
    expect((await raw.ask('runs.list')).error).toMatchObject({ code: DAEMON_ERRORS.helloFirst });
    // A newer client that still speaks this version is welcome.
    const newer = await rawClient(record());
    expect(
      (await newer.ask('daemon.hello', { protocol: 99, oldestProtocol: 1, client: 'newer' })).result,
    ).toMatchObject({
      protocol: 1,
    });
    const { pid } = record();
    expect((await raw.ask('daemon.shutdown', { mode: 'idle' })).result).toEqual({ accepted: true });
    expect(await raw.closed).toBe(1001);
    await expect.poll(() => lives(pid)).toBe(false);
  });
});

describe('broken messages', () => {
  it('are answered with what is wrong, and end only the connection that sends many of them', async () => {
    const { client, record } = bench();
    const other = client();
    await other.start();
    const raw = await greeted(record());
    const error = async (message: unknown, id: number | null) => {
      const before = raw.received.length;
      raw.send(message);
      await expect.poll(() => raw.received.length).toBeGreaterThan(before);
      const answer = raw.received[before];
      expect(answer.id).toBe(id);
      return answer.error;
    };
    expect(await error('{"jsonrpc":', null)).toMatchObject({ code: DAEMON_ERRORS.parse });
    expect(await error([{ jsonrpc: '2.0', id: 71, method: 'runs.list' }], null)).toMatchObject({
      code: DAEMON_ERRORS.request,
    });
    expect(await error({ jsonrpc: '1.0', id: 71, method: 'runs.list' }, 71)).toMatchObject({
      code: DAEMON_ERRORS.request,
      message: expect.stringContaining('jsonrpc'),
    });
    expect(await error({ jsonrpc: '2.0', id: 72, method: 'runs.destroy' }, 72)).toMatchObject({
      code: DAEMON_ERRORS.method,
    });
    expect(await error({ jsonrpc: '2.0', id: 73, method: '__proto__' }, 73)).toMatchObject({
      code: DAEMON_ERRORS.method,
    });
    const params = { run: 'a', section: 'teacher', limit: 1e9 };
    expect(await error({ jsonrpc: '2.0', id: 74, method: 'episodes.list', params }, 74)).toMatchObject({
      code: DAEMON_ERRORS.params,
      message: expect.stringContaining('limit'),
    });
    raw.socket.send(Buffer.from([1, 2, 3]), { binary: true });
    for (let i = 0; i < 20; i++) raw.send('no json');
    expect(await raw.closed).toBe(1008);
    expect(await other.request('runs.list', {})).toEqual([]);
  });

  it('that are too large close the connection, and too many requests at a time are refused', async () => {
    const { client, record, writeConfig } = bench();
    const other = client();
    await other.start();
    const raw = await greeted(record());
    raw.send({ jsonrpc: '2.0', id: 9, method: 'runs.list', params: { padding: 'x'.repeat(LARGEST_REQUEST) } });
    expect(await raw.closed).toBe(1009);

    writeConfig('a.training.yaml', { version: 1 } as never);
    const busy = await greeted(record());
    const params = { files: ['a.training.yaml'] };
    for (let id = 100; id <= 100 + MOST_REQUESTS; id++)
      busy.send({ jsonrpc: '2.0', id, method: 'config.validate', params });
    const refused = await busy.until((message) => message.error?.code === DAEMON_ERRORS.tooMany);
    expect(refused.id).toBe(100 + MOST_REQUESTS);
    // Cancelled ones end at once and make room.
    for (let id = 100; id < 100 + MOST_REQUESTS; id++)
      busy.send({ jsonrpc: '2.0', method: 'rpc.cancel', params: { id } });
    const cancelled = () => busy.received.filter((message) => message.error?.code === DAEMON_ERRORS.cancelled).length;
    await expect.poll(cancelled).toBe(MOST_REQUESTS);
    expect((await busy.ask('runs.list')).result).toEqual([]);
  });
});

it('random bytes and mutated requests take nothing down', async () => {
  const { client, record, log } = bench();
  const one = client();
  await one.start();
  const { port } = record();
  const random = new Random('daemon fuzz', 1);
  for (let i = 0; i < 40; i++) {
    await new Promise<void>((done) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => done());
      const bytes = Buffer.from(Array.from({ length: random.int(300) }, () => random.int(256)));
      const upgrade = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
      socket.write(random.int(2) === 0 ? bytes : upgrade.slice(0, random.int(upgrade.length)));
      socket.resume();
      setTimeout(() => socket.destroy(), 20);
    });
  }
  let raw = await greeted(record());
  const methods = Object.keys(daemonMethods).filter((method) => method !== 'daemon.shutdown');
  const values = [null, -1, 1e300, '', '..', '\0', 'x'.repeat(5000), [], {}, { run: {} }, true, '__proto__'];
  const keys = [
    'run',
    'section',
    'offset',
    'limit',
    'episode',
    'call',
    'config',
    'files',
    'filter',
    'mode',
    '__proto__',
  ];
  let sent = 0;
  for (let id = 0; id < 400; id++) {
    const params = Object.fromEntries(keys.flatMap((key) => (random.int(3) === 0 ? [[key, random.pick(values)]] : [])));
    const text = JSON.stringify({ jsonrpc: '2.0', id, method: random.pick(methods), params });
    const cut = random.int(10) === 0 ? text.slice(0, random.int(text.length)) : text;
    // Too many broken ones end the connection, as they should.
    if (raw.socket.readyState !== raw.socket.OPEN) raw = await greeted(record());
    raw.send(cut);
    sent++;
    if (id % 16 === 0) await raw.ask('daemon.status').catch(() => {});
  }
  expect(sent).toBe(400);
  expect(await one.request('daemon.status', {})).toMatchObject({ pid: record().pid, active: null });
  expect(one.status.state).toBe('ready');
  // Whatever was asked, the daemon had words for it: nothing failed in a way it did not expect.
  expect(log()).not.toMatch(/uncaught|unhandled|TypeError/);
});

describe('one daemon a workspace', () => {
  it('whoever comes second attaches, also at the same moment', async () => {
    const { folder, environment, client, record } = bench();
    const clients = [client(), client(), client()];
    await Promise.all(clients.map((each) => each.start()));
    const pids = await Promise.all(clients.map((each) => each.request('daemon.status', {})));
    expect(new Set(pids.map(({ pid }) => pid))).toEqual(new Set([record().pid]));
    const second = await launchDaemon({ script: bundlePath('daemon'), environment }, folder);
    expect(second).toMatchObject({ type: 'already-running', holder: expect.stringContaining(String(record().pid)) });
  });

  it('a record that another daemon left, or whose number another process has now, is replaced', async () => {
    const { folder, places, client, record } = bench();
    const stale = (pid: number): DaemonRecord => ({
      pid,
      port: 9,
      token: 'x'.repeat(64),
      startedAt: new Date(0).toISOString(),
      workspace: folder,
      protocol: 1,
      version: '0.0.1',
      host: hostname(),
    });
    for (const pid of [deadPid(), process.pid]) {
      mkdirSync(places.state, { recursive: true, mode: 0o700 });
      writeFileSync(places.record, JSON.stringify(stale(pid)), { mode: 0o600 });
      chmodSync(places.record, 0o600);
      const each = client();
      await each.start();
      expect(record().pid).not.toBe(pid);
      await each.stop('idle');
    }
  });

  it('a forged daemon.json in the workspace is never asked, and nothing is written through a link', async () => {
    const { folder, client, places, record } = bench();
    let asked = 0;
    const attacker = createServer();
    attacker.on('connection', () => asked++);
    await new Promise<void>((done) => attacker.listen(0, '127.0.0.1', done));
    onTestFinished(() => void attacker.close());
    const { port } = attacker.address() as AddressInfo;
    mkdirSync(dirname(places.copy));
    const forged = { pid: process.pid, port, token: 'f'.repeat(64), startedAt: new Date().toISOString() };
    writeFileSync(
      places.copy,
      JSON.stringify({ ...forged, workspace: folder, protocol: 1, version: '0.1.0', host: hostname() }),
      { mode: 0o600 },
    );
    const one = client();
    expect(await one.attach()).toBe(false);
    await one.start();
    expect(record().port).not.toBe(port);
    expect(asked).toBe(0);

    const outside = mkdtempSync(join(tmpdir(), 'arrl outside-'));
    onTestFinished(() => rmSync(outside, { recursive: true }));
    const linked = bench();
    symlinkSync(outside, join(linked.folder, '.agentic-robo-rl'));
    await linked.client().start();
    expect(readdirSync(outside)).toEqual([]);
  });

  it('a record that others may read is not believed', async () => {
    const { client, places, said } = bench();
    const one = client();
    await one.start();
    one.dispose();
    chmodSync(places.record, 0o644);
    expect(await client().attach()).toBe(false);
    expect(said.join()).toMatch(/is not used: others than its owner may open it/);
    chmodSync(places.record, 0o600);
    expect(await client().attach()).toBe(true);
  });
});

describe('when it ends', () => {
  it('outlives who started it, and leaves when nobody has come back', async () => {
    const { folder, environment, client, places, log } = bench();
    const starter = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { spawn } from 'node:child_process';
         const daemon = spawn(process.execPath, process.argv.slice(1), { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
         daemon.stdout.once('data', () => process.stdout.write('up'));
         setInterval(() => {}, 1000);`,
        bundlePath('daemon'),
        '--workspace',
        folder,
        '--idle-seconds',
        '3',
      ],
      { env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((done) => starter.stdout.once('data', done));
    starter.kill('SIGKILL');
    const one = client();
    expect(await one.attach()).toBe(true);
    const { pid } = await one.request('daemon.status', {});
    one.dispose();
    await expect.poll(() => lives(pid)).toBe(false);
    expect(log()).toMatch(/leaving \(idle\)/);
    expect(existsSync(places.record)).toBe(false);
  });

  it('leaves as well when who asked for a run did not wait for its refusal', async () => {
    const { client, record, writeConfig, log } = bench();
    writeConfig('bad.training.yaml', { version: 2 } as never);
    const one = client({ args: ['--idle-seconds', '1'] });
    await one.start();
    const { pid } = record();
    const asked = one.request('runs.start', { config: 'bad.training.yaml' });
    asked.catch(() => {});
    // The daemon has it once it answers what was sent after it.
    await one.request('daemon.status', {});
    one.dispose();
    await expect.poll(() => lives(pid)).toBe(false);
    expect(log()).toMatch(/leaving \(idle\)/);
  });

  it('a client that says no hello or gives no sign of life is dropped, and one whose daemon is silent connects anew', async () => {
    const { client, record, log } = bench();
    const one = client({ args: ['--heartbeat-seconds', '1'], silenceSeconds: 4 });
    await one.start();
    const silent = await rawClient(record());
    expect(await silent.closed).toBe(1008);
    const dead = await greeted(record());
    // Stands for a machine that sleeps: nothing is read, so no ping is answered.
    dead.socket.pause();
    await expect.poll(log).toMatch(/client 3 \(test\): no sign of life, dropped/);

    const { pid } = record();
    kill(pid, 'SIGSTOP');
    await state(one, 'reconnecting');
    expect(one.status.message).toMatch(/nothing was heard for 4 s/);
    kill(pid, 'SIGCONT');
    await state(one, 'ready');
    expect((await one.request('daemon.status', {})).pid).toBe(pid);
  });
});

/** The number of a process that has ended. */
function deadPid(): number {
  const child = spawn(process.execPath, ['-e', '']);
  const { pid } = child;
  child.kill('SIGKILL');
  return pid as number;
}
