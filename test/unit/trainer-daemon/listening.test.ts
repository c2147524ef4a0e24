import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { inUrl, ListenError, listen } from '../../../trainer-daemon/listening.ts';

/** A server whose listening fails as the operating system would have it (root may listen on any port). */
async function refusal(code: string, host: string, port: number): Promise<Error> {
  const server = createServer();
  server.listen = (() => {
    setImmediate(() => server.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
    return server;
  }) as typeof server.listen;
  return listen(server, 'the server', host, port).then(
    () => new Error('it listens'),
    (error) => error,
  );
}

describe('listen', () => {
  it('gives the port taken for 0', async () => {
    const server = createServer();
    expect(await listen(server, 'the server', '127.0.0.1', 0)).toBeGreaterThan(0);
    await new Promise((done) => server.close(done));
  });

  it('says of a foreign address and of a name that they are none of this machine', async () => {
    const foreign = await listen(createServer(), 'the server', '192.0.2.7', 0).catch((error) => error);
    expect(foreign).toBeInstanceOf(ListenError);
    expect(foreign.message).toBe(
      'the server cannot listen on 192.0.2.7:0: 192.0.2.7 is no address of this machine; listen on 127.0.0.1, or on an address this machine has',
    );
    expect((await refusal('ENOTFOUND', 'no.such.host', 80)).message).toContain('the name no.such.host leads to no');
  });

  it.each([
    ['EADDRINUSE', 8000, 'cannot listen on [::1]:8000: another program uses port 8000'],
    ['EACCES', 80, 'ports below 1024 are kept for privileged programs; give another port'],
    ['EACCES', 8000, 'this user may not use port 8000 (listen EACCES); give another port'],
    ['EMFILE', 8000, ':8000: listen EMFILE'],
  ])('words %s on port %i', async (code, port, words) => {
    expect((await refusal(code, '::1', port)).message).toContain(words);
  });

  it('brackets IPv6 addresses', () => {
    expect([inUrl('::1'), inUrl('127.0.0.1')]).toEqual(['[::1]', '127.0.0.1']);
  });
});
