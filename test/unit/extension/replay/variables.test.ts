import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { valueText } from '../../../../extension/replay/debug/values.ts';
import { FACT_NAMES } from '../../../../recordings/replay/facts.ts';
import { recordedGroup, SECTION } from '../../recordings/replay/hand-made.ts';
import { linesOf } from '../../trainer-daemon/store/runs.ts';
import { replay } from './client.ts';

describe('variables', () => {
  it('of credit are the numbers of samples.jsonl and scores.jsonl, at every call', async () => {
    const folder = await recordedGroup();
    const client = await replay(folder, { group: true });
    const samples = linesOf(folder, SECTION, 'samples.jsonl');
    const scores = linesOf(folder, SECTION, 'scores.jsonl');
    let walked = 0;
    for (const [thread, episode] of ['e0', 'e1', 'e2'].entries()) {
      for (const sample of samples.filter((one) => one.episode === episode)) {
        const scope = (await client.scopes(0, thread + 1)).Credit;
        const variables = await client.variables(scope.variablesReference);
        const value = (name: string) => variables.find((one) => one.name === name)?.value;
        expect([value('advantage'), value('u'), value('L'), value('status')]).toEqual(
          [sample.advantage, sample.u, sample.responseLength, sample.status].map((one) => JSON.stringify(one)),
        );
        const [score] = scores.filter((one) => one.call === sample.call).slice(-1);
        const tokens = (await client.scopes(0, thread + 1)).Tokens;
        const items = await client.variables(tokens.variablesReference, { filter: 'indexed' });
        const rows = await Promise.all(items.map(({ variablesReference }) => client.variables(variablesReference)));
        const column = (name: string) => rows.map((row) => row.find((one) => one.name === name)?.value);
        const strings = (list: unknown) => (list === undefined ? ['null', 'null'] : (list as number[]).map(String));
        expect([column('logb'), column('logq'), column('logp'), column('w')]).toEqual([
          ['-0.25', '-1.5'],
          strings(score?.logq),
          strings(score?.logp),
          strings(score?.w),
        ]);
        walked++;
        await client.move('next', { threadId: thread + 1 });
      }
    }
    expect(walked).toBe(samples.length);
  });

  it('are those of the record in every scope', async () => {
    const client = await replay(await recordedGroup(), { turn: 1 });
    expect(Object.keys(await client.scopes())).toEqual(['Context', 'Response', 'Tokens', 'Outcome', 'Credit']);
    expect(await client.values('Context')).toMatchObject({
      turn: '1',
      newSince: '2',
      promptTokens: '8',
    });
    expect(await client.values('Response')).toMatchObject({
      reasoning: '"thought 1"',
      called: '(2) ["pick", "pick"]',
      finishReason: '"tool_calls"',
      held: '"red_cube"',
    });
    expect(await client.values('Outcome')).toMatchObject({
      reward: '1',
      valid: 'true',
      successTurn: '2',
      end: '"exit"',
    });
    expect(await client.values('Credit')).toMatchObject({ advantage: '1', status: '"selected"', reason: 'null' });
    await client.move('stepIn');
    expect(Object.keys(await client.scopes())[0]).toBe('Tool Call');
    expect(await client.values('Tool Call')).toMatchObject({ tool: '"pick"', failed: 'true' });
    // The call around it.
    expect(Object.keys(await client.scopes(1))[0]).toBe('Context');
    await client.move('stepOut');
    await client.move('continue');
    expect(Object.keys(await client.scopes())).toEqual(['Outcome', 'Credit']);
    expect(Object.keys(await client.values('Credit'))).toEqual(['group']);
  });

  it('of a call whose context is damaged are those that it holds itself', async () => {
    const folder = await recordedGroup();
    const path = join(folder, SECTION, 'calls.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^.*\n/, ''));
    const client = await replay(folder, { turn: 1 });
    expect(await client.values('Context')).toMatchObject({
      ...{ turn: '1', promptTokenIds: 'null', damaged: expect.stringContaining('its messages start from call') },
    });
    expect(await client.values('Response')).toMatchObject({ reasoning: '"thought 1"', called: '(2) ["pick", "pick"]' });
    expect(Object.keys(await client.values('Tokens'))).toContain('0');
    expect(await client.values('Credit')).toMatchObject({ advantage: '1', status: '"selected"' });
    await client.ask('setExceptionBreakpoints', { filters: ['damaged'] });
    const { reason, text } = await client.move('continue');
    expect([reason, text]).toEqual(['exception', expect.stringContaining('its messages start from call')]);
    expect(await client.at()).toBe('turn 2');
  });

  it('come in pages', async () => {
    const count = 2500;
    const turns = [
      {
        content: 'x',
        fields: { responseTokenIds: Array(count).fill(7), logprobs: Array.from({ length: count }, (_, k) => -k) },
      },
    ];
    const client = await replay(await recordedGroup({ turns }));
    const { variablesReference, indexedVariables, namedVariables } = (await client.scopes()).Tokens;
    expect(indexedVariables).toBe(count);
    const page = (args: object) => client.variables(variablesReference, args);
    expect((await page({ filter: 'named' })).length).toBe(namedVariables);
    const middle = await page({ filter: 'indexed', start: 1200, count: 3 });
    expect(middle.map(({ name, value, evaluateName }) => [name, value, evaluateName])).toEqual([
      ['1200', 'token 7  log b -1200', 'token[1200]'],
      ['1201', 'token 7  log b -1201', 'token[1201]'],
      ['1202', 'token 7  log b -1202', 'token[1202]'],
    ]);
    expect((await page({ filter: 'indexed', start: 2499, count: 100 })).length).toBe(1);
    expect((await page({})).length).toBe(count + (namedVariables ?? 0));
    expect(await client.evaluate('token[2499].logb')).toBe('-2499');
  });

  it('of a long text come in parts that make up the whole', async () => {
    // Pairs at the ends of parts, and characters that take more room where they are shown.
    const long = `x${'\u{1f600}'.repeat(4000)}${'line\n"quoted"\u202e\n'.repeat(50_000)}end`;
    const client = await replay(await recordedGroup({ turns: [{ content: long }, { content: 'short' }] }), { turn: 1 });
    const textOf = async (reference: number) => {
      const parts: Dap.Variable[] = [];
      for (let start = 0; ; start += 100) {
        const page = await client.variables(reference, { filter: 'indexed', start, count: 100 });
        parts.push(...page);
        if (page.length < 100) break;
      }
      expect(parts.every(({ variablesReference: inner, name }, k) => inner === 0 && name === `${k}`)).toBe(true);
      // A mark stands for what is not seen.
      return {
        ...{ count: parts.length },
        text: parts.map(({ value }) => JSON.parse(value.replaceAll('‹U+202E›', '\u202e'))).join(''),
      };
    };
    const { messages } = Object.fromEntries(
      (await client.variables((await client.scopes()).Context.variablesReference)).map((one) => [one.name, one]),
    );
    const [sent] = (await client.variables(messages.variablesReference)).slice(2);
    const content = (await client.variables(sent.variablesReference)).find(({ name }) => name === 'content');
    expect(content?.value).toContain(`(${long.length} characters: expand to read all of them, or use Copy Value)`);
    expect(await textOf(content?.variablesReference as number)).toEqual({
      ...{ text: long, count: content?.indexedVariables },
    });
    const told = await client.ask<Dap.EvaluateResponse['body']>('evaluate', {
      ...{ expression: 'messages[2].content', context: 'repl' },
    });
    expect(told.result).toContain('expand to read all');
    expect((await textOf(told.variablesReference)).text).toBe(long);
    expect(await client.evaluate('messages[2].content', 'clipboard')).toBe(long);
    const info = await client.ask<Dap.DataBreakpointInfoResponse['body']>('dataBreakpointInfo', {
      ...{ variablesReference: told.variablesReference, name: '1' },
    });
    expect(info.dataId).toBeNull();
    const short = await client.ask<Dap.EvaluateResponse['body']>('evaluate', { expression: 'text', context: 'repl' });
    expect([short.result, short.variablesReference]).toEqual(['"short"', 0]);
  });

  it('are named by expressions that give them', async () => {
    const client = await replay(await recordedGroup(), { turn: 1 });
    let checked = 0;
    const walk = async (reference: number, depth: number): Promise<void> => {
      for (const { evaluateName, value, variablesReference, presentationHint } of await client.variables(reference)) {
        expect(presentationHint?.attributes).toContain('readOnly');
        expect(await client.evaluate(evaluateName as string)).toBe(value);
        checked++;
        if (variablesReference > 0 && depth < 3) await walk(variablesReference, depth + 1);
      }
    };
    for (const { variablesReference } of Object.values(await client.scopes())) await walk(variablesReference, 0);
    expect(checked).toBeGreaterThan(100);
  });
});

describe('the debug console', () => {
  it('evaluates expressions over the record, and nothing else', async () => {
    const client = await replay(await recordedGroup(), { turn: 2 });
    expect(await client.evaluate('advantage - group.mean * u')).toBe(`${1 - 0.5 / 3}`);
    expect(await client.evaluate('called')).toBe('(1) ["place"]');
    expect(await client.evaluate('messages[0].content', 'clipboard')).toBe('You move things.');
    expect(JSON.parse(await client.evaluate('sample', 'clipboard'))).toMatchObject({ call: 'e0.c2' });
    await expect(client.evaluate('process.exit(1)')).rejects.toThrow('( is not expected here (column 13)');
    await expect(client.evaluate('advantage = 3')).rejects.toThrow('compare with ==');
    await expect(client.evaluate('rewad')).rejects.toThrow('did you mean "reward"?');
  });

  it('completes names', async () => {
    const client = await replay(await recordedGroup());
    const complete = async (text: string) =>
      (await client.ask<Dap.CompletionsResponse['body']>('completions', { text, column: text.length + 1 })).targets;
    expect(await complete('turn > 1 && adv')).toMatchObject([{ label: 'advantage', start: 12, length: 3 }]);
    expect((await complete('')).map(({ label }) => label)).toEqual(FACT_NAMES);
    expect(await complete('sample.adv')).toMatchObject([{ label: 'advantage', detail: 'number', start: 7, length: 3 }]);
    const fields = async (text: string) => (await complete(text)).map(({ label }) => label);
    expect(await fields('group.')).toEqual(['size', 'valid', 'rewards', 'mean', 'best', 'attempts']);
    expect(await fields('turn > 1 && messages[0].')).toEqual(['role', 'content']);
    expect(await fields('group.attempts[1].re')).toEqual(['reward']);
    expect([await fields('group.rewards.'), await fields('reasoning.')]).toEqual([['length'], ['length']]);
    for (const none of ['rewad.', 'turn.', '3.', 'target.', '.', 'group..']) expect(await fields(none)).toEqual([]);
    const { id: frameId } = (await client.frames())[0];
    const { targets } = await client.ask<Dap.CompletionsResponse['body']>('completions', {
      ...{ text: 'group. + 1', column: 7, frameId },
    });
    expect(targets.map(({ start }) => start)).toEqual(Array(6).fill(6));
  });

  it('counts lines and columns as the client does', async () => {
    const folder = await recordedGroup();
    const client = await replay(folder, {}, { initialize: { linesStartAt1: false, columnsStartAt1: false } });
    const [{ line, column, source }] = await client.frames();
    const { lines } = await (client.session as NonNullable<typeof client.session>).transcript(0);
    expect([lines[line], column]).toEqual([expect.stringMatching(/^turn 0/), 0]);
    const { breakpoints } = await client.ask<Dap.SetBreakpointsResponse['body']>('setBreakpoints', {
      source,
      breakpoints: [{ line }],
    });
    expect(breakpoints[0].line).toBe(line);
    const { targets } = await client.ask<Dap.CompletionsResponse['body']>('completions', { text: 'adv', column: 3 });
    expect(targets).toMatchObject([{ start: 0, length: 3 }]);
  });
});

describe('values', () => {
  it('are written in one line, and long ones cut', () => {
    expect(valueText('a\nb')).toBe('"a\\nb"');
    expect(valueText(Array.from({ length: 9 }, (_, k) => k))).toBe('(9) [0, 1, 2, ...]');
    expect([valueText([]), valueText({}), valueText(null), valueText(-0.1)]).toEqual(['[]', '{}', 'null', '-0.1']);
    expect(valueText({ role: 'user', content: 'hello' })).toBe('user: "hello"');
    const long = valueText(`${'x'.repeat(1998)}😀😀`);
    expect(long).toBe(`"${'x'.repeat(1998)}...`);
    expect(valueText({ a: 'x'.repeat(500) }).length).toBeLessThan(130);
  });
});
