/** A page in a real browser on this machine tries to get into a real daemon, with all that a browser lets it send. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bench } from '../integration/daemon-bench.ts';
import { greeted, rawClient } from '../integration/daemon-raw.ts';
import { vscode } from './bed/server.ts';
import { FLAGS } from './bed/workbench.ts';

/** A name that its owner has bound to this machine. */
const FOREIGN = 'attacker.example';

/** A page without an origin, as in a sandboxed frame. */
const SANDBOXED = '/sandboxed';

/** Served by a stranger on this machine. */
async function strangersPage(): Promise<number> {
  const server = createServer(({ url }, answer) => {
    answer.setHeader('content-type', 'text/html');
    if (url === SANDBOXED) answer.setHeader('content-security-policy', 'sandbox allow-scripts');
    answer.end('<!doctype html><title>stranger</title>');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function browser(): Promise<Browser> {
  const args = [...FLAGS, `--host-resolver-rules=MAP ${FOREIGN} 127.0.0.1`];
  const started = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args });
  onTestFinished(() => started.close());
  return started;
}

/** Runs in the page: what becomes of each way in. The page's script is text, as there is no DOM in this program. */
const TRY_SOCKETS = `(ways) => Promise.all(ways.map(([url, protocols]) => new Promise((done) => {
  let socket;
  try { socket = new WebSocket(url, protocols); } catch (error) { return done('not tried: ' + error.message); }
  socket.onopen = () => { socket.send('{"jsonrpc":"2.0","id":1,"method":"runs.list"}'); done('open'); };
  socket.onmessage = () => done('answered');
  socket.onclose = () => done('closed');
})))`;
const TRY_FETCHES = `(ways) => Promise.all(ways.map(([url, options]) =>
  fetch(url, options).then((answer) => answer.type === 'opaque' ? 'opaque' : String(answer.status), () => 'refused')))`;

describe.skipIf(vscode === null)('a page in a browser', () => {
  it('is not let in, with or without the token, under any name of this machine', async () => {
    const { client, record, log } = bench();
    const ours = client();
    await ours.start();
    const { port, token } = record();
    const stranger = await strangersPage();
    const context = await (await browser()).newContext();
    const page = await context.newPage();
    const wrong = token.replace(/./g, '0');
    const hosts = ['127.0.0.1', 'localhost', FOREIGN];
    const ways = hosts.flatMap((host) => [
      [`ws://${host}:${port}/`],
      [`ws://${host}:${port}/`, [token]],
      [`ws://user:${token}@${host}:${port}/`],
      [`ws://user:${wrong}@${host}:${port}/`],
      [`ws://${host}:${port}/?token=${token}`],
    ]);
    const fetches = hosts.flatMap((host) =>
      ['no-cors', 'cors'].map((mode) => [
        `http://${host}:${port}/`,
        { mode, headers: mode === 'cors' ? { authorization: `Bearer ${token}` } : {} },
      ]),
    );
    // From another port, from a name bound to this machine, from a page without an origin, and from the daemon itself.
    const places = [
      `http://127.0.0.1:${stranger}/`,
      `http://${FOREIGN}:${stranger}/`,
      `http://127.0.0.1:${stranger}${SANDBOXED}`,
    ];
    for (const place of [...places, `http://${FOREIGN}:${port}/`, `http://127.0.0.1:${port}/`]) {
      await page.goto(place);
      const sockets = (await page.evaluate(`(${TRY_SOCKETS})(${JSON.stringify(ways)})`)) as string[];
      expect(sockets.filter((one) => one !== 'closed' && !one.startsWith('not tried'))).toEqual([]);
      expect(sockets.filter((one) => one === 'closed').length).toBeGreaterThanOrEqual(hosts.length);
      const answers = (await page.evaluate(`(${TRY_FETCHES})(${JSON.stringify(fetches)})`)) as string[];
      // Nothing to read: unseen, refused, or told that this is no page.
      for (const answer of answers) expect(['opaque', 'refused', '426']).toContain(answer);
      // The daemon's own clients stay the only ones: ours and this look.
      const raw = await greeted(record());
      expect((await raw.ask('daemon.status')).result).toMatchObject({ clients: 2 });
      raw.socket.close();
      await raw.closed;
    }
    expect(log()).toMatch(
      new RegExp(`refused a connection: it has an Origin \\("http://127\\.0\\.0\\.1:${stranger}"\\)`),
    );
    expect(log()).toMatch(/refused a connection: it has an Origin \("null"\)/);
    expect(log()).toMatch(new RegExp(`refused a connection: the Host "${FOREIGN}:${port}" is not this daemon's`));
    expect(log()).not.toContain(token);
    // The same token without a browser's Origin and Host opens the door, and a wrong one does not.
    await expect(rawClient({ port, token: wrong })).rejects.toThrow('401');
    await rawClient({ port, token });
    expect(await ours.request('runs.list', {})).toEqual([]);
  });
});
