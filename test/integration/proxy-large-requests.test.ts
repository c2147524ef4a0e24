/** Requests with large images: what the upstream gets is what was asked, and no large body is parsed or kept twice. */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUpstream } from '../../trainer-daemon/proxy/index.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();
const base64 = (letter: string) => `${letter.repeat(1_000_000)}`;
const url = (letter: string) => `data:image/png;base64,${base64(letter)}`;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  vi.restoreAllMocks();
});

/** Answers every request the same, and keeps the bytes; nothing in it is parsed. */
async function startDeaf(): Promise<{ url: string; bodies: Buffer[] }> {
  const bodies: Buffer[] = [];
  const reply = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'seen' }, finish_reason: 'stop' }],
  });
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    bodies.push(Buffer.concat(parts));
    response.setHeader('content-type', 'application/json').end(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

async function open() {
  const server = await startDeaf();
  const upstream = createUpstream({ kind: 'openai', url: server.url, model: 'planner', policyVersion: () => null });
  return { server, episode: bench.open({ upstream }) };
}

describe('a request with two images of a megabyte', () => {
  const images = ['A', 'B'];
  const asked = images.map((letter) => ({ type: 'image_url', image_url: { url: url(letter) } }));

  it.each(['chat', 'responses', 'messages'])(
    'reaches the upstream whole from %s, and is recorded so',
    async (dialect) => {
      const { server, episode } = await open();
      if (dialect === 'chat') {
        const content = [{ type: 'text', text: 'lööк "here"\n' }, ...asked];
        await bench
          .openai(episode)
          .chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] } as never);
      } else if (dialect === 'responses') {
        const content = images.map((letter) => ({ type: 'input_image', image_url: url(letter) }));
        await bench.openai(episode).responses.create({ model: 'm', input: [{ role: 'user', content }] } as never);
      } else {
        const content = images.map((letter) => ({
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: base64(letter) },
        }));
        const messages = [{ role: 'user', content }];
        await bench.anthropic(episode).messages.create({ model: 'm', max_tokens: 9, messages } as never);
      }
      const sent = JSON.parse(server.bodies[0].toString()) as { model: string; messages: { content: unknown[] }[] };
      expect(sent.model).toBe('planner');
      expect(sent.messages[0].content.slice(-2)).toEqual(asked);
      expect(bench.sink.calls[0].request.messages[0].content?.slice(-2)).toEqual(asked);
      if (dialect === 'chat') expect(sent.messages[0].content[0]).toEqual({ type: 'text', text: 'lööк "here"\n' });
    },
  );

  it('goes through the JSON parser and writer without them', async () => {
    const { server, episode } = await open();
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: asked }] });
    const parse = vi.spyOn(JSON, 'parse');
    const response = await fetch(`${episode.baseUrl}/chat/completions`, { method: 'POST', body });
    const parsed = parse.mock.calls.map(([text]) => String(text).length);
    parse.mockRestore();
    expect(response.status).toBe(200);
    expect(Math.max(...parsed)).toBeLessThan(10_000);
    expect(server.bodies[0].length).toBeGreaterThan(2_000_000);
  });
});

it('a large body of another kind is parsed once', async () => {
  const { episode } = await open();
  const messages = Array.from({ length: 2000 }, (_, i) => ({ role: 'user', content: `line ${i} ${'x'.repeat(500)}` }));
  const body = JSON.stringify({ model: 'm', messages });
  const parse = vi.spyOn(JSON, 'parse');
  await fetch(`${episode.baseUrl}/chat/completions`, { method: 'POST', body });
  const large = parse.mock.calls.filter(([text]) => String(text).length > 100_000);
  parse.mockRestore();
  expect(large).toHaveLength(1);
});
