/** The tool runners of the official clients, and streams from servers that are asked for whole replies. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createUpstream } from '../../trainer-daemon/proxy/upstreams/create.ts';
import { DialectBench } from './dialect-bench.ts';
import { RESULTS, TRANSCRIPT, WORK } from './dialect-work.ts';

const bench = new DialectBench();
const parameters = { type: 'object' as const, properties: {} };

describe("the clients' own loops", () => {
  const ran: string[] = [];
  const run = (id: string) => (input: unknown) => {
    ran.push(`${id} ${JSON.stringify(input)}`);
    return RESULTS[id];
  };
  beforeEach(() => {
    bench.server.turns = WORK;
    ran.length = 0;
  });

  it.each([false, true])('the tool runner of the Anthropic client, streamed: %s', async (stream) => {
    const episode = bench.open();
    const tool = (name: string) => ({
      name,
      description: name,
      input_schema: parameters,
      run: run(name === 'look' ? 'call_b' : 'call_a'),
      parse: (value: unknown) => value as object,
    });
    const runner = bench.anthropic(episode).beta.messages.toolRunner({
      model: 'any',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'go' }],
      tools: [tool('pick'), tool('look')],
      stream,
    });
    const last = await runner.runUntilDone();
    expect(last.content.at(-1)).toMatchObject({ type: 'text', text: 'The cube is in the bowl.' });
    expect(ran).toEqual(['call_a {"object":"red-cube","height":1}', 'call_b {}', expect.stringContaining('bowl')]);
    expect(bench.sink.calls).toHaveLength(3);
    expect(bench.sink.calls[2].request.messages[1]).toEqual(TRANSCRIPT[0]);
  });

  it('the tool runner of the openai client', async () => {
    const tool = (name: string) => ({
      type: 'function' as const,
      function: {
        name,
        parameters,
        parse: JSON.parse,
        function: run(name === 'look' ? 'call_b' : 'call_a'),
        description: name,
      },
    });
    const runner = bench.openai(bench.open()).chat.completions.runTools({
      model: 'any',
      messages: [{ role: 'user', content: 'go' }],
      tools: [tool('pick'), tool('look')],
    });
    expect(await runner.finalContent()).toBe('The cube is in the bowl.');
    expect(ran).toHaveLength(3);
    expect(bench.sink.calls.map(({ status }) => status)).toEqual(['complete', 'complete', 'complete']);
  });
});

describe('a server that is asked for whole replies only', () => {
  const upstream = () =>
    createUpstream({ kind: 'sglang', url: bench.server.url, model: 'planner', policyVersion: () => 3 });

  it('still gives streams, made of them', async () => {
    bench.server.turns = [WORK[0]];
    const messages = [{ role: 'user' as const, content: 'go' }];
    const message = await bench
      .anthropic(bench.open({ upstream: upstream() }))
      .messages.stream({ model: 'm', max_tokens: 1, messages })
      .finalMessage();
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'thinking' }, { type: 'text', text: 'Both at once.' }, { id: 'call_a' }, { id: 'call_b' }],
      usage: { input_tokens: 50 },
    });
    const response = await bench
      .openai(bench.open({ upstream: upstream() }))
      .responses.stream({ model: 'm', input: 'go' })
      .finalResponse();
    expect(response.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message' },
      { call_id: 'call_a' },
      { call_id: 'call_b' },
    ]);
    expect(bench.server.requests.map(({ body }) => body.stream)).toEqual([undefined, undefined]);
  });
});
