import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../trainer-daemon/api/gate.ts';

const token = 'a'.repeat(64);
const sound = { host: '127.0.0.1:4000', authorization: `Bearer ${token}` };
const status = (headers: Record<string, string | undefined>, url = '/') =>
  refusalOf({ headers: { ...sound, ...headers }, url }, 4000, token)?.status.slice(0, 3);

describe('an upgrade request', () => {
  it('gets in with the token, under either name of this machine', () => {
    expect(status({})).toBeUndefined();
    expect(status({ host: 'localhost:4000' })).toBeUndefined();
  });

  it.each([
    ['another port', { host: '127.0.0.1:4001' }, '403'],
    ['no port', { host: '127.0.0.1' }, '403'],
    ['a name bound to this machine', { host: 'rebound.example:4000' }, '403'],
    ['no Host', { host: undefined }, '403'],
    ['an Origin, even ours', { origin: 'http://127.0.0.1:4000' }, '403'],
    ['an empty Origin', { origin: '' }, '403'],
    ['no token', { authorization: undefined }, '401'],
    ['part of the token', { authorization: `Bearer ${token.slice(1)}` }, '401'],
    ['the token and more', { authorization: `Bearer ${token}a` }, '401'],
    ['two tokens', { authorization: `Bearer ${token} ${token}` }, '401'],
    ['another scheme', { authorization: token }, '401'],
  ])('is refused with %s', (_, headers, expected) => {
    expect(status(headers)).toBe(expected);
  });

  it('is refused at another path, and no reason repeats a token', () => {
    expect(status({}, '/?token=x')).toBe('404');
    const wrong = 'b'.repeat(64);
    const refusal = refusalOf({ headers: { ...sound, authorization: `Bearer ${wrong}` }, url: '/' }, 4000, token);
    expect(refusal?.reason).not.toMatch(/aaaa|bbbb/);
  });
});
