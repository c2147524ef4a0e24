import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRun } from '../../../../trainer-daemon/store/index.ts';
import { callsOf, recordedGroup, SECTION, TURNS } from '../../recordings/replay/hand-made.ts';
import { episode as record } from '../../trainer-daemon/store/runs.ts';
import { type Client, connect, replay } from './client.ts';

/** Everything shown at a position, frame by frame. */
async function shown(client: Client): Promise<unknown> {
  const frames = await client.frames();
  const all: unknown[] = [];
  for (let frame = 0; frame < frames.length; frame++) {
    const { name, line, source } = frames[frame];
    const scopes: Record<string, unknown> = {};
    for (const scope of Object.keys(await client.scopes(frame))) scopes[scope] = await client.values(scope, frame);
    all.push({ name, line, source, scopes });
  }
  return all;
}

async function walk(client: Client, command: string, args: object = {}): Promise<{ at: string; shown: unknown }[]> {
  const seen = [{ at: await client.at(), shown: await shown(client) }];
  for (;;) {
    const { reason, description } = await client.move(command, args);
    expect(reason).toBe('step');
    if (description) {
      expect(description).toMatch(/^(End|Start) of the episode: there is nothing further/);
      return seen;
    }
    seen.push({ at: await client.at(), shown: await shown(client) });
  }
}

describe('stepping', () => {
  it('forwards and back over an episode visits the same states', async () => {
    const client = await replay(await recordedGroup());
    const forward = await walk(client, 'next');
    expect(forward.map(({ at }) => at)).toEqual(['turn 0', 'turn 1', 'turn 2', 'turn 3', 'outcome: reward 1']);
    expect((await walk(client, 'stepBack')).toReversed()).toEqual(forward);
  });

  it('into tool calls and back visits the same states', async () => {
    const client = await replay(await recordedGroup());
    const forward = await walk(client, 'stepIn');
    expect(forward.map(({ at }) => at)).toEqual([
      'turn 0',
      'turn 0 > detect {}',
      'turn 1',
      'turn 1 > pick {"object":"red-cube","grasp":"side"}',
      'turn 1 > pick {"object":"red-cube","grasp":"top"}',
      'turn 2',
      'turn 2 > place {"target":"plate","where":"on"}',
      'turn 3',
      'turn 3 > finish {"status":"done"}',
      'outcome: reward 1',
    ]);
    expect((await walk(client, 'stepBack', { granularity: 'instruction' })).toReversed()).toEqual(forward);
  });

  it('goes on after both ends; restart and continue go to them', async () => {
    const client = await replay(await recordedGroup());
    expect((await client.move('stepBack')).description).toContain('Start of the episode');
    expect((await client.move('continue')).description).toContain('End of the episode');
    expect((await client.move('next')).description).toContain('End of the episode');
    expect(await client.at()).toBe('outcome: reward 1');
    expect((await client.move('reverseContinue')).description).toContain('Start of the episode');
    expect(await client.at()).toBe('turn 0');
    await client.move('stepOut');
    expect(await client.at()).toBe('outcome: reward 1');
    expect(await client.move('restart')).toMatchObject({ reason: 'entry', threadId: 1 });
    expect(await client.at()).toBe('turn 0');
    expect(client.heard).not.toContain('terminated');
  });

  it('begins at a turn, and goes to a line of the transcript', async () => {
    const client = await replay(await recordedGroup(), { turn: 2 });
    expect(await client.at()).toBe('turn 2');
    const [{ source }] = await client.frames();
    const { text } = await (client.session as NonNullable<Client['session']>).transcript(0);
    const line = text.split('\n').findIndex((one) => one.includes('"grasp":"top"'));
    // Its arguments stand below its name.
    const { targets } = await client.ask<{ targets: { id: number; label: string; line: number }[] }>('gotoTargets', {
      source,
      line: line + 1,
    });
    expect(targets).toEqual([{ id: 1, label: 'turn 1', line }]);
    expect((await client.move('goto', { targetId: targets[0].id })).reason).toBe('goto');
    expect(await client.at()).toBe('turn 1 > pick {"object":"red-cube","grasp":"top"}');
    expect((await client.frames())[0].line).toBe(line);
  });

  it('of a group goes through each attempt as a thread', async () => {
    const client = await replay(await recordedGroup(), { group: true });
    const { threads } = await client.ask<{ threads: unknown }>('threads');
    expect(threads).toEqual([
      { id: 1, name: 'attempt 0: reward 1 (s/0, state 11)' },
      { id: 2, name: 'attempt 1: reward 0 (s/0, state 11)' },
      { id: 3, name: 'attempt 2: invalid (s/0, state 11)' },
    ]);
    expect((await client.move('next', { threadId: 2 })).threadId).toBe(2);
    expect([await client.at(1), await client.at(2)]).toEqual(['turn 0', 'turn 1']);
    await client.move('continue', { threadId: 3 });
    expect([await client.at(3), await client.at(2)]).toEqual(['outcome: reward 0', 'turn 1']);
  });

  it('shows moves that others make', async () => {
    const client = await replay(await recordedGroup());
    await client.session?.cursor.goto({ thread: 0, call: 3, part: 0 });
    expect((await client.stopped()).reason).toBe('goto');
    expect(await client.at()).toBe('turn 3 > finish {"status":"done"}');
  });

  it('is paused on its way', async () => {
    const turns = Array.from({ length: 60 }, () => TURNS[0]);
    const client = await replay(await recordedGroup({ turns }));
    // A condition that is never met keeps it busy.
    await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'turn > 9999' }] });
    const stopped = client.stopped();
    await Promise.all([client.ask('continue', { threadId: 1 }), client.ask('pause', { threadId: 1 })]);
    expect((await stopped).reason).toBe('pause');
    expect(await client.at()).toMatch(/^turn \d+/);
  });
});

describe('damage', () => {
  it('is a place to stand at, with the reason, and stepping goes on', async () => {
    const folder = await recordedGroup({
      more: async (_, path) => {
        const file = join(path, SECTION, 'calls.jsonl');
        const lines = readFileSync(file, 'utf8').split('\n');
        lines[3] = lines[3].replace('"turn":3', '"turn":"three"');
        writeFileSync(file, lines.join('\n'));
      },
    });
    const client = await replay(folder);
    for (let k = 0; k < 3; k++) await client.move('next');
    expect(await client.at()).toBe('turn 3');
    expect(await client.values('Context')).toEqual({ damaged: expect.stringMatching(/^"turn: /) });
    expect(await client.values('Outcome')).toMatchObject({ reward: '1' });
    await client.move('next');
    expect(await client.at()).toBe('outcome: reward 1');
  });
});

describe('a recording that means harm', () => {
  it('shows characters that are not seen as marks', async () => {
    const hostile = '\u001b[2J\u202Egpj.exe\n';
    const folder = await recordedGroup({
      turns: [{ tools: [[hostile, { code: hostile }, `error: ${hostile}`]] }, { content: hostile }],
      more: async (run) => {
        const bad = {
          ...record('bad'),
          init: 99,
          task: `${hostile}/0`,
          valid: false,
          invalidReason: hostile,
          turns: 1,
        };
        await run.section(SECTION).appendCall(callsOf('bad', TURNS)[0]);
        await run.section(SECTION).appendEpisode(bad);
      },
    });
    const client = await replay(folder);
    await client.ask('setExceptionBreakpoints', { filters: ['tool-error', 'invalid'] });
    const sent: unknown[] = [await client.move('continue'), await client.ask('exceptionInfo', { threadId: 1 })];
    sent.push(await client.frames(), await client.values('Tool Call'), await client.values('Response', 1));
    const other = await replay(folder, { episode: 'bad' });
    await other.ask('setExceptionBreakpoints', { filters: ['invalid'] });
    sent.push(
      await other.move('continue'),
      await other.ask('exceptionInfo', { threadId: 1 }),
      await other.ask('threads'),
    );
    sent.push(await other.values('Outcome'));
    expect(JSON.stringify(sent)).toContain('gpj.exe');
    // In quotes ESC is written out as JSON does.
    const inPlace: string[] = [];
    JSON.stringify(sent, (_, value: unknown) => {
      if (typeof value === 'string' && (value.includes('\u001b') || value.includes('\u202e'))) inPlace.push(value);
      return value;
    });
    expect(inPlace).toEqual([]);
  });
});

describe('a run that is being written', () => {
  it('is followed, and parked by a step back', async () => {
    const folder = await recordedGroup();
    const run = await openRun(folder);
    const section = run.section(SECTION);
    const calls = callsOf('e7', TURNS);
    await section.appendCall(calls[0]);
    const client = await replay(folder, { episode: 'e7' }, { initialize: { supportsInvalidatedEvent: true } });
    expect(await client.at()).toBe('turn 0');
    expect((await client.frames()).length).toBe(1);
    await section.appendCall(calls[1]);
    expect(await client.stopped()).toMatchObject({ reason: 'step', description: 'Newest call' });
    expect(await client.at()).toBe('turn 1');
    await client.move('stepBack');
    await section.appendCall(calls[2]);
    const invalidated = client.waitForEvent('invalidated');
    await client.session?.refresh();
    await invalidated;
    expect([client.unheardStops, await client.at()]).toEqual([0, 'turn 0']);
    expect((await client.move('continue')).description).toContain('Newest call: the episode is being written');
    await section.appendEpisode({ ...record('e7'), attempt: 7, turns: 3 });
    expect(await client.stopped()).toMatchObject({ description: 'Newest call' });
    expect(await client.at()).toBe('outcome: reward 1');
    await run.close();
  });
});

describe('a launch', () => {
  it.each([
    [{ run: 3 }, /^"run" of the launch configuration: /],
    [{ episode: '' }, /^"episode" of the launch configuration: /],
    [{ turn: -1 }, /^"turn" of the launch configuration: /],
    [{ run: '/nowhere' }, /^\/nowhere: is no run directory \(there is no run\.json in it\)/],
    [{ episode: 'e9' }, /: the run holds no episode "e9"$/],
    // The editor would make a link of it that runs a command.
    [{ episode: '[Open](command:x)\u202e' }, /: the run holds no episode "\[Open\] \(command:x\)‹U\+202E›"$/],
    [{ section: '../x' }, /is no name of a section/],
    [{ section: 'teacher' }, /: teacher holds no episode "e0"$/],
    [{ turn: 9 }, /^The episode has no turn 9; it has 4 calls$/],
  ])('of %j is refused with words', async (args, said) => {
    const client = await connect();
    await client.initializeRequest();
    const launched = { run: await recordedGroup(), episode: 'e0', ...args };
    const answer = client.ask('launch', launched).then(
      () => 'launched',
      (error: Error) => error.message,
    );
    expect(await answer).toMatch(said);
    // Another one can be tried.
    await client.ask('launch', { run: await recordedGroup(), episode: 'e0' });
  });

  it('comes before everything else', async () => {
    const client = await connect();
    await client.initializeRequest();
    for (const command of ['threads', 'next', 'configurationDone', 'restart'])
      await expect(client.ask(command, { threadId: 1 })).rejects.toThrow('no replay is open');
    await expect(client.ask('disassemble')).rejects.toThrow('the request "disassemble" is not supported');
    await expect(client.ask('constructor')).rejects.toThrow('is not supported');
  });

  it('is refused for what is not there any more', async () => {
    const client = await replay(await recordedGroup());
    const scopes = await client.scopes();
    const [{ id }] = await client.frames();
    await client.move('next');
    await expect(client.variables(scopes.Context.variablesReference)).rejects.toThrow('of a position that was left');
    await expect(client.ask('scopes', { frameId: id })).rejects.toThrow('of a position that was left');
    await expect(client.ask('stackTrace', { threadId: 9 })).rejects.toThrow('there is no thread 8');
    await expect(client.ask('goto', { threadId: 1, targetId: 5 })).rejects.toThrow('there is no such place');
    expect(await client.at()).toBe('turn 1');
  });
});
