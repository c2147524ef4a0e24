import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../protocol/random.ts';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { callsOf, recordedGroup, SECTION, TURNS, type Turn } from '../../recordings/replay/hand-made.ts';
import { episode as record, runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';
import { type Client, replay, type Stopped } from './client.ts';

type Breakpoints = Dap.SetBreakpointsResponse['body'];

/** Places that continue stops at up to the end, and that reverse continue stops at up to the start. */
async function stops(
  client: Client,
  threadId = 1,
): Promise<{ forward: [string, Stopped][]; back: [string, Stopped][] }> {
  const all = async (command: string) => {
    const seen: [string, Stopped][] = [];
    for (;;) {
      const stopped = await client.move(command, { threadId });
      if (stopped.reason === 'step') return seen;
      seen.push([await client.at(threadId), stopped]);
    }
  };
  const there = await all('continue');
  return { forward: there, back: await all('reverseContinue') };
}

/** The places, where both ways meet the same ones. */
async function places(client: Client, threadId = 1): Promise<string[]> {
  const { forward, back } = await stops(client, threadId);
  const names = forward.map(([at]) => at);
  expect(back.map(([at]) => at).toReversed()).toEqual(names);
  return names;
}

async function lineOf(client: Client, text: string, thread = 0): Promise<number> {
  const { lines } = await (client.session as NonNullable<Client['session']>).transcript(thread);
  const at = lines.findIndex((line) => line.includes(text));
  if (at < 0) throw new Error(`"${text}" is not in the transcript`);
  return at + 1;
}

const PICKS = TURNS[1].tools?.map(([name, given]) => `turn 1 > ${name} ${JSON.stringify(given)}`) as string[];

describe('a hit count', () => {
  it('counts the places of the episode, the same in both directions', async () => {
    const client = await replay(await recordedGroup());
    const set = async (name: string, hitCondition: string) => {
      const args = { breakpoints: [{ name, hitCondition }] };
      return (await client.ask<Breakpoints>('setFunctionBreakpoints', args)).breakpoints[0];
    };
    for (const [hitCondition, at] of [
      ['2', ['turn 1']],
      ['== 3', ['turn 2']],
      ['>= 3', ['turn 2', 'turn 3']],
      ['% 2', ['turn 1', 'turn 3']],
      ['9', []],
    ] as const) {
      expect(await set('turn >= 0', hitCondition)).toMatchObject({ verified: true });
      expect(await places(client), hitCondition).toEqual(at);
    }
    expect(await set('tool == "pick"', '2')).toMatchObject({ verified: true });
    expect(await places(client)).toEqual([PICKS[1]]);
    await set('tool == "pick"', '< 2');
    expect(await places(client)).toEqual([PICKS[0]]);
    for (const wrong of ['x', '-1', '% 0', '2 3'])
      expect(await set('turn >= 0', wrong)).toMatchObject({
        verified: false,
        message: expect.stringMatching(/^A hit count is a number/),
      });
    await set('turn >= 0', '9');
    await client.ask('setDataBreakpoints', { breakpoints: [{ dataId: 'turn', hitCondition: '2' }] });
    expect(await places(client)).toEqual(['turn 2']);
  });

  it('of a line that can never be met is refused', async () => {
    const client = await replay(await recordedGroup());
    const [{ source }] = await client.frames();
    const line = await lineOf(client, 'turn 2');
    const set = (hitCondition: string) =>
      client.ask<Breakpoints>('setBreakpoints', { source, breakpoints: [{ line, hitCondition }] });
    expect((await set('2')).breakpoints).toMatchObject([
      { verified: false, message: expect.stringContaining('met once in an episode') },
    ]);
    expect(await places(client)).toEqual([]);
    expect((await set('>= 1')).breakpoints).toMatchObject([{ verified: true, line }]);
    expect(await places(client)).toEqual(['turn 2']);
  });
});

describe('a breakpoint', () => {
  it('on a line of the transcript stops at its part, in both directions', async () => {
    const client = await replay(await recordedGroup());
    const [{ source }] = await client.frames();
    // Its arguments stand below its name.
    const picked = (await lineOf(client, '"grasp":"side"')) - 1;
    const lines = [await lineOf(client, 'turn 2'), picked + 2, 9999];
    const { breakpoints } = await client.ask<Breakpoints>('setBreakpoints', {
      source,
      breakpoints: lines.map((line) => ({ line })),
    });
    expect(breakpoints.map(({ verified, line }) => [verified, line])).toEqual([
      [true, lines[0]],
      // On the result, below the tool call.
      [true, picked],
      [true, await lineOf(client, 'outcome ·')],
    ]);
    const { forward, back } = await stops(client);
    expect(forward.map(([at, { reason, hitBreakpointIds }]) => [at, reason, hitBreakpointIds])).toEqual([
      [PICKS[0], 'breakpoint', [breakpoints[1].id]],
      ['turn 2', 'breakpoint', [breakpoints[0].id]],
      ['outcome: reward 1', 'breakpoint', [breakpoints[2].id]],
    ]);
    // The end is where reverse continue sets out.
    expect(back.map(([at]) => at)).toEqual(['turn 2', PICKS[0]]);
    expect(forward.map(([, { description }]) => description)).toEqual(['Stopped', 'Stopped', 'Stopped']);
    expect(back.map(([, { description }]) => description)).toEqual(Array(2).fill('Stopped on the way back'));

    await client.ask('setBreakpoints', { source, breakpoints: [] });
    expect(await places(client)).toEqual([]);
  });

  it('with a condition stops where it holds', async () => {
    const client = await replay(await recordedGroup());
    const [{ source }] = await client.frames();
    const breakpoints = await Promise.all(
      ['turn 0', 'turn 1', 'turn 2', 'turn 3'].map(async (text) => ({
        line: await lineOf(client, text),
        condition: 'turn > 0 && status == "selected"',
      })),
    );
    await client.ask('setBreakpoints', { source, breakpoints });
    expect(await places(client)).toEqual(['turn 1', 'turn 2']);
  });

  it('with a mistake in its condition says where, and stops nowhere', async () => {
    const client = await replay(await recordedGroup());
    const [{ source }] = await client.frames();
    const line = await lineOf(client, 'turn 2');
    const { breakpoints } = await client.ask<Breakpoints>('setBreakpoints', {
      source,
      breakpoints: [
        { line, condition: 'turn > 1 && advantge < 0' },
        { line, logMessage: 'x {turn >}' },
      ],
    });
    expect(breakpoints).toMatchObject([
      { verified: false, message: 'there is no "advantge"; did you mean "advantage"? (column 13)' },
      { verified: false, message: expect.stringContaining('not complete') },
    ]);
    expect(await places(client)).toEqual([]);
  });

  it('whose condition cannot be evaluated says so once', async () => {
    const client = await replay(await recordedGroup());
    const said: string[] = [];
    client.on('output', ({ body }: Dap.OutputEvent) => said.push(body.output));
    await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'finishReason > 3' }] });
    expect(await places(client)).toEqual([]);
    expect(said).toEqual([expect.stringMatching(/^finishReason > 3: ">" needs numbers.*\(column 14\)\n$/)]);
  });

  it('that logs does not stop', async () => {
    const client = await replay(await recordedGroup());
    const [{ source }] = await client.frames();
    const said: string[] = [];
    client.on('output', ({ body }: Dap.OutputEvent) => said.push(body.output));
    const logMessage = 'turn {turn}: {called}, {advantage * 2}';
    await client.ask('setBreakpoints', { source, breakpoints: [{ line: await lineOf(client, 'turn 1'), logMessage }] });
    expect(await places(client)).toEqual([]);
    expect(said).toEqual(Array(2).fill('turn 1: (2) ["pick", "pick"], 2\n'));
  });

  it('on an expression alone stops wherever it holds', async () => {
    const client = await replay(await recordedGroup(), { group: true });
    const set = (name: string, condition?: string) =>
      client.ask<Breakpoints>('setFunctionBreakpoints', { breakpoints: [{ name, condition }] });
    await set('advantage > 0 && turn > 0');
    expect(await places(client)).toEqual(['turn 1', 'turn 2', 'turn 3']);
    await set('tool == "pick"', 'arguments.grasp == "top"');
    expect(await places(client)).toEqual([PICKS[1]]);
    await set('advantage < -0.5 && turn > 0');
    expect(await places(client)).toEqual([]);
    expect(await places(client, 2)).toEqual(['turn 1']);
    await set('reward == 1');
    // The outcome is where continue ends; it stops there for the breakpoint first.
    const stopped = await client.move('continue');
    expect([stopped.reason, await client.at()]).toEqual(['function breakpoint', 'outcome: reward 1']);
    expect((await set('reward ==')).breakpoints).toMatchObject([{ verified: false }]);
  });

  it('on an episode that is not loaded waits until it is', async () => {
    const client = await replay(await recordedGroup());
    const [{ source }] = await client.frames();
    const other = { path: source?.path?.replaceAll('e0', 'e1') };
    const { breakpoints } = await client.ask<Breakpoints>('setBreakpoints', {
      source: other,
      breakpoints: [{ line: 4 }],
    });
    expect(breakpoints).toMatchObject([{ verified: false, message: 'this episode is not part of the replay' }]);
    const changed = client.waitForEvent('breakpoint');
    await client.session?.load('e1');
    expect((await changed).body).toMatchObject({
      reason: 'changed',
      breakpoint: { id: breakpoints[0].id, verified: true },
    });
    await client.move('continue', { threadId: 2 });
    expect(client.heard).toContain('thread');
    await client.move('reverseContinue', { threadId: 2 });
    expect(await client.at(2)).toBe('turn 0');
    const elsewhere = await client.ask<Breakpoints>('setBreakpoints', {
      source: { path: '/etc/passwd' },
      breakpoints: [{ line: 1 }],
    });
    expect(elsewhere.breakpoints).toMatchObject([
      { verified: false, message: expect.stringContaining('only transcripts') },
    ]);
  });
});

describe('code of the planner', () => {
  const turns: Turn[] = [
    {
      tools: [
        [
          'run',
          { code: 'a = detect()\npick(a[0])\nplace()' },
          'Traceback (most recent call last):\n  File "<cell>", line 2\nIndexError',
        ],
      ],
    },
    { content: 'Again.\n```python\npick()\n```\n', answer: 'done' },
    { content: 'end' },
  ];

  it('is stopped at on any of its lines, and shown where it failed', async () => {
    const client = await replay(await recordedGroup({ turns }));
    await client.move('stepIn');
    const [{ source, line, name }] = await client.frames();
    expect([source?.name, line, name]).toEqual(['turn 0, cell 0.py', 2, 'run a = detect() pick(a[0]) place()']);
    const { breakpoints } = await client.ask<Breakpoints>('setBreakpoints', {
      source,
      breakpoints: [{ line: 3 }, { line: 7, condition: 'turn == 9' }],
    });
    expect(breakpoints).toMatchObject([
      { verified: true, line: 3 },
      { verified: true, line: 3 },
    ]);
    await client.move('restart');
    expect(await places(client)).toEqual(['turn 0 > run a = detect() pick(a[0]) place()']);
    expect(await client.values('Tool Call', 0).catch(() => 'left')).toBe('left');
  });

  it('that failed in files of the workspace has their lines above it, the innermost first', async () => {
    const workspace = temporaryFolder();
    mkdirSync(join(workspace, 'arm'));
    for (const name of ['skills.py', 'gripper.py']) writeFileSync(join(workspace, 'arm', name), 'x\ny\nz\n');
    const result = [
      'Traceback (most recent call last):',
      '  File "<cell>", line 2, in <module>',
      '  File "/opt/elsewhere/arm/skills.py", line 3, in pick',
      '  File "/usr/lib/python3/nowhere.py", line 9, in call',
      '  File "/opt/elsewhere/arm/../../etc/passwd", line 1, in read',
      '  File "/opt/elsewhere/arm/gripper.py", line 1, in close',
      'RuntimeError: no power',
    ].join('\n');
    const client = await replay(
      await recordedGroup({
        turns: [{ tools: [['run', { code: 'a = 1\npick(a)\nplace()' }, result]] }, { content: 'end' }],
      }),
      {},
      { host: { folders: () => [workspace] } },
    );
    await client.move('stepIn');
    const frames = await client.frames();
    expect(frames.map(({ name, line, source }) => [name, line, source?.path?.replace(workspace, '')])).toEqual([
      ['close', 1, '/arm/gripper.py'],
      ['pick', 3, '/arm/skills.py'],
      [expect.stringMatching(/^run /), 2, expect.stringMatching(/^planner-episode:/)],
      ['turn 0', expect.any(Number), expect.stringMatching(/^planner-episode:/)],
      ['outcome: reward 1', expect.any(Number), expect.stringMatching(/^planner-episode:/)],
    ]);
    // It is the cell that one looks at; its scopes are those of every frame of it.
    expect(frames.slice(0, 3).map(({ source }) => source?.presentationHint)).toEqual([
      'deemphasize',
      'deemphasize',
      undefined,
    ]);
    expect(await client.values('Tool Call', 1)).toEqual(await client.values('Tool Call', 2));
  });

  it('has its own filter for exceptions', async () => {
    const client = await replay(await recordedGroup({ turns }));
    await client.ask('setExceptionBreakpoints', { filters: ['code-exception'] });
    expect(await places(client)).toEqual(['turn 0 > run a = detect() pick(a[0]) place()']);
    await client.move('continue');
    expect(await client.values('Tool Call')).toMatchObject({
      tool: '"run"',
      exception: 'true',
      code: JSON.stringify('a = detect()\npick(a[0])\nplace()'),
    });
    await client.ask('setExceptionBreakpoints', { filters: ['tool-error'] });
    expect(await places(client)).toEqual([]);
  });

  it('is given as a source to clients that open no documents', async () => {
    const client = await replay(await recordedGroup({ turns }), {}, { host: { documents: false } });
    const [{ source: transcript }] = await client.frames();
    await client.move('stepIn');
    const [{ source }] = await client.frames();
    const text = async (of: Dap.Source | undefined) =>
      (await client.ask<Dap.SourceResponse['body']>('source', { source: of, sourceReference: of?.sourceReference }))
        .content;
    expect([await text(source), await text(transcript)]).toEqual([
      'a = detect()\npick(a[0])\nplace()',
      expect.stringContaining('turn 0 · run'),
    ]);
    await client.ask('setBreakpoints', {
      source: { sourceReference: source?.sourceReference },
      breakpoints: [{ line: 1 }],
    });
    await client.move('restart');
    expect(await places(client)).toEqual(['turn 0 > run a = detect() pick(a[0]) place()']);
    await expect(client.ask('source', { sourceReference: 99 })).rejects.toThrow('this is no text of the replay');
  });
});

describe('a filter', () => {
  /** Something for every filter. */
  const turns: Turn[] = [TURNS[0], TURNS[1], { ...TURNS[2], fields: { finishReason: 'length' } }, TURNS[3]];

  it.each([
    ['tool-error', [PICKS[0]], 'error: grasp must be top or rim'],
    ['zero-weight', ['turn 3'], 'zero-weight:prompt-mismatch'],
    ['prompt-mismatch', ['turn 3'], 'zero-weight:prompt-mismatch'],
    ['truncated', ['turn 2'], '2'],
  ])('%s stops in both directions', async (filter, expected, text) => {
    const client = await replay(await recordedGroup({ turns }));
    await client.ask('setExceptionBreakpoints', { filters: [filter] });
    expect(await places(client)).toEqual(expected);
    const stopped = await client.move('continue');
    expect([stopped.reason, stopped.text]).toEqual(['exception', text]);
    const info = await client.ask('exceptionInfo', { threadId: 1 });
    expect(info).toEqual({ exceptionId: filter, description: text, breakMode: 'always' });
  });

  it('for invalid episodes stops at their outcome', async () => {
    const client = await replay(await recordedGroup(), { episode: 'e2' });
    await client.ask('setExceptionBreakpoints', { filters: ['invalid'] });
    expect(await client.move('continue')).toMatchObject({ reason: 'exception', text: 'the arm lost power' });
    expect((await client.move('continue')).reason).toBe('step');
    // Nothing lies behind an outcome; on the way back from it there is no second one.
    expect((await client.move('reverseContinue')).reason).toBe('step');
    expect(await client.at()).toBe('turn 0');
  });

  it('with a condition stops where it holds; one that there is not is refused', async () => {
    const client = await replay(await recordedGroup({ turns }));
    const filterOptions = [
      { filterId: 'tool-error', condition: 'arguments.grasp == "rim"' },
      { filterId: 'zero-weight', condition: 'turn == 3' },
      { filterId: 'truncated', condition: 'turn =' },
      { filterId: 'no-such' },
    ];
    const { breakpoints } = await client.ask<Breakpoints>('setExceptionBreakpoints', { filters: [], filterOptions });
    expect(breakpoints.map(({ verified, message }) => [verified, message])).toEqual([
      [true, undefined],
      [true, undefined],
      [false, expect.stringContaining('compare with ==')],
      [false, 'there is no filter "no-such"'],
    ]);
    expect(await places(client)).toEqual(['turn 3']);
  });

  it('for damage stops at records that cannot be read', async () => {
    const folder = await recordedGroup({
      more: async (run) => {
        await run.section(SECTION).replaceLines('samples.jsonl', []);
      },
    });
    writeFileSync(join(folder, SECTION, 'samples.jsonl'), '{"call":"e0.c1","episode":"e0"}\n');
    const client = await replay(folder);
    await client.ask('setExceptionBreakpoints', { filters: ['damaged'] });
    expect(await places(client)).toEqual(['turn 1']);
  });
});

describe('a data breakpoint', () => {
  const info = (client: Client, args: object) =>
    client.ask<Dap.DataBreakpointInfoResponse['body']>('dataBreakpointInfo', args);

  it('on what the gripper holds stops when it holds something else', async () => {
    const client = await replay(await recordedGroup());
    const { variablesReference } = (await client.scopes()).Response;
    const { dataId, canPersist } = await info(client, { variablesReference, name: 'held' });
    expect([dataId, canPersist]).toEqual(['held', true]);
    await client.ask('setDataBreakpoints', { breakpoints: [{ dataId }] });
    expect(await places(client)).toEqual(['turn 1', 'turn 2']);
    expect(await client.move('continue')).toMatchObject({
      reason: 'data breakpoint',
      text: 'held changed from null to "red_cube"',
    });
  });

  it('on any field path stops when its value changes', async () => {
    const client = await replay(await recordedGroup());
    const set = (dataId: string, condition?: string) =>
      client.ask('setDataBreakpoints', { breakpoints: [{ dataId, condition }] });
    await set('status');
    expect(await places(client)).toEqual(['turn 3']);
    await set('messages.length', 'turn > 1');
    expect(await places(client)).toEqual(['turn 2', 'turn 3']);
    await set('arguments.grasp');
    expect(await places(client)).toEqual([PICKS[0], PICKS[1], 'turn 2 > place {"target":"plate","where":"on"}']);
    await set('sampling.temperature');
    expect(await places(client)).toEqual([]);
  });

  it('on parts of a variable is named by its path', async () => {
    const client = await replay(await recordedGroup());
    const { variablesReference } = (await client.scopes()).Tokens;
    const logprob = (await client.variables(variablesReference)).find(({ name }) => name === 'logprob');
    expect((await info(client, { variablesReference: logprob?.variablesReference, name: 'min' })).dataId).toBe(
      'logprob.min',
    );
    expect((await info(client, { variablesReference, name: '1' })).dataId).toBe('token[1]');
    expect((await info(client, { variablesReference, name: '9' })).dataId).toBeNull();
  });

  it('is refused for what never changes, and for what is no value', async () => {
    const client = await replay(await recordedGroup());
    for (const [name, said] of [
      ['reward', 'reward is the same at every call'],
      ['nothing', 'there is no "nothing" (column 1)'],
      ['', ' is no value of a record'],
    ]) {
      expect(await info(client, { name })).toEqual({ dataId: null, description: said });
    }
  });
});

describe('the adapter', () => {
  const TEXT =
    "export default defineAdapter({\n  name: 'x',\n  outcome(output) {\n    const reward = 1;\n    return {\n      reward: reward, valid: true,\n    };\n  },\n});\n";

  async function withAdapter(text: string) {
    const workspace = temporaryFolder();
    mkdirSync(join(workspace, 'a b'));
    const path = join(workspace, 'a b/x.adapter.ts');
    writeFileSync(path, text);
    const folder = temporaryFolder();
    const config = { harness: { adapter: './x.adapter.ts' } };
    const run = await createRun(folder, {
      ...runInfo,
      config,
      configFolder: join(workspace, 'a b'),
      adapterSha256: sha256(TEXT),
    });
    for (const call of callsOf('e0', TURNS)) await run.section(SECTION).appendCall(call);
    await run.section(SECTION).appendEpisode({ ...record('e0'), turns: 4 });
    await run.close();
    return { workspace, path, folder };
  }

  it('is linked to where it tells the reward, and stopped at there', async () => {
    const { workspace, path, folder } = await withAdapter(TEXT);
    const client = await replay(folder, {}, { host: { folders: () => [workspace] } });
    const frame = (await client.frames()).at(-1);
    expect(frame).toMatchObject({ name: 'outcome: reward 1', line: 6, presentationHint: 'subtle', source: { path } });
    const { breakpoints } = await client.ask<Breakpoints>('setBreakpoints', {
      source: { path },
      breakpoints: [{ line: 1 }],
    });
    expect(breakpoints).toMatchObject([{ verified: true, line: 6 }]);
    expect((await client.move('continue')).reason).toBe('breakpoint');
    expect(await client.frames()).toMatchObject([{ name: 'outcome: reward 1', line: 6, source: { path } }]);
  });

  it('is linked to nowhere outside of the workspace, and says when it has changed', async () => {
    const { workspace, folder } = await withAdapter(`// changed\n${TEXT}`);
    const outside = await replay(folder);
    expect((await outside.frames()).at(-1)?.source?.path).toMatch(/^planner-episode:/);
    const client = await replay(folder, {}, { host: { folders: () => [workspace] } });
    expect((await client.frames()).at(-1)?.name).toBe('outcome: reward 1 (the adapter has changed since)');
  });
});
