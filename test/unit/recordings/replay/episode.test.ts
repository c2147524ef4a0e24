import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isDamaged, openRecording, UNREAD_MESSAGE } from '../../../../recordings/index.ts';
import { parseCondition, placeAt, valueAt } from '../../../../recordings/replay/facts.ts';
import {
  openReplayEpisode,
  type ReplayCall,
  type ReplayEpisode,
  readTranscript,
} from '../../../../recordings/replay/index.ts';
import { describeSkill } from '../../../../trainer-daemon/harnesses/tabletop-skills/observations.ts';
import { openRun } from '../../../../trainer-daemon/store/index.ts';
import type { SkillCode } from '../../../../trainer-daemon/tabletop/types.ts';
import { linesOf, episode as record } from '../../trainer-daemon/store/runs.ts';
import { callsOf, recordedGroup, SECTION, TURNS, type Turn } from './hand-made.ts';

async function open(folder: string, id = 'e0', section = SECTION): Promise<ReplayEpisode> {
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  return openReplayEpisode(recording, section, id);
}
const all = (episode: ReplayEpisode): Promise<ReplayCall[]> =>
  Promise.all(Array.from({ length: episode.length }, (_, k) => episode.call(k)));
const words = ({ call, turn }: ReplayCall) => (isDamaged(call) ? `${turn}: ${call.damaged}` : `${turn}`);

function editCalls(folder: string, change: (lines: string[]) => string[]): void {
  const path = join(folder, SECTION, 'calls.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  writeFileSync(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

describe('an episode', () => {
  it('tells its outcome, its group and its calls', async () => {
    const episode = await open(await recordedGroup());
    expect(episode.outcome.record).toMatchObject({ id: 'e0', reward: 1, successTurn: 2 });
    expect(episode.group.map(({ id, attempt, reward, valid }) => [id, attempt, reward, valid])).toEqual([
      ['e0', 0, 1, true],
      ['e1', 1, 0, true],
      ['e2', 2, 0, false],
    ]);
    expect([episode.length, episode.open, episode.positionOf(3), episode.positionOf(4)]).toEqual([
      4,
      false,
      3,
      undefined,
    ]);
    const calls = await all(episode);
    expect(calls.map(words)).toEqual(['0', '1', '2', '3']);
    expect(calls.map(({ newSince }) => newSince)).toEqual([0, 2, 4, 7]);
    expect(calls.map(({ span }) => span)).toEqual([
      { first: 0, last: 0 },
      { first: 1, last: 1 },
      { first: 2, last: 2 },
      null,
    ]);
    expect(calls[1].toolCalls).toMatchObject([
      { name: 'pick', arguments: { grasp: 'side' }, failed: true, exception: false, span: null },
      { name: 'pick', result: 'held', failed: false, span: 1 },
    ]);
    expect(calls[3]).toMatchObject({
      toolCalls: [{ name: 'finish', result: null, failed: false }],
      sample: { status: 'zero-weight:prompt-mismatch', advantage: 1, u: null },
      scores: [],
      target: null,
    });
    expect((await episode.spans()).spans.map(({ held }) => held)).toEqual([null, 'red_cube', null]);
    await expect(async () => episode.call(4)).rejects.toThrow('episode e0 has 4 calls, there is no position 4');
  });

  it('finds its group by ids of ours, also with tries that were repeated and attempts that lack', async () => {
    const ids = ['a0.0', 'a0.1', 'a2.0', 'a11.2', 'a3.0'].map((end) => `1f0c2ab9.r1.s-0.i11.${end}`);
    const folder = await recordedGroup({
      more: async (run) => {
        for (const id of [...ids, '1f0c2ab9.r1.s-0.i12.a1.0']) {
          const [, init, attempt, tryNumber] = (/i(\d+)\.a(\d+)\.(\d+)$/.exec(id) ?? []).map(Number);
          const section = run.section(SECTION);
          await section.appendEpisode({ ...record(id), init, attempt, tryNumber, task: id === ids[4] ? 's/1' : 's/0' });
        }
      },
    });
    const episode = await open(folder, ids[2]);
    expect(episode.group.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    // Tried for the third time without a record of the tries before: nobody wrote that.
    expect((await open(folder, ids[3])).group.map(({ id }) => id)).toEqual(ids.slice(0, 4));
  });

  it('tells which attempts of its group are damaged or have no record, by ids of any kind', async () => {
    const ids = [0, 1, 3].map((attempt) => `1f0c2ab9.r1.s-0.i15.a${attempt}.0`);
    const folder = await recordedGroup({
      more: async (run) => {
        for (const id of ids)
          await run
            .section(SECTION)
            .appendEpisode({ ...record(id), init: 15, attempt: Number(id.at(-3)), task: 's/0' });
      },
    });
    expect((await open(folder)).lacking).toEqual([]);
    const path = join(folder, SECTION, 'episodes.jsonl');
    const lines = readFileSync(path, 'utf8').split('\n');
    for (const line of [1, 5]) lines[line] = lines[line].replace(/"reward":[^,]+/, '"reward":"high"');
    writeFileSync(path, lines.join('\n'));
    expect((await open(folder)).lacking).toEqual([
      { id: 'e1', attempt: 1, reason: expect.stringMatching(/^episodes\.jsonl, line 2: reward: /) },
    ]);
    const ours = await open(folder, ids[0]);
    expect(ours.lacking).toEqual([
      { id: ids[1], attempt: 1, reason: expect.stringMatching(/^episodes\.jsonl, line 6: reward: /) },
      { id: null, attempt: 2, reason: 'it has no record' },
    ]);
    expect(await valueAt(parseCondition('group.lacking[1].attempt'), await placeAt(ours, 0, 'call'))).toBe(2);
    // What the round's plan has besides lacks, too.
    const plan = { round: 1, policyVersion: 0, attempts: 5, groups: [{ task: 's/0', init: 15 }] };
    writeFileSync(join(folder, SECTION, 'plan.json'), JSON.stringify(plan));
    expect((await open(folder, ids[0])).lacking.map(({ attempt }) => attempt)).toEqual([1, 2, 4]);
  });

  it('gives the numbers of samples.jsonl and scores.jsonl', async () => {
    const folder = await recordedGroup();
    for (const id of ['e0', 'e1', 'e2']) {
      for (const { call, sample, scores } of await all(await open(folder, id))) {
        if (isDamaged(call)) throw new Error(call.damaged);
        const of = ({ call: one }: Record<string, unknown>) => one === call.id;
        expect(sample).toEqual(linesOf(folder, SECTION, 'samples.jsonl').find(of));
        expect(scores).toEqual(linesOf(folder, SECTION, 'scores.jsonl').filter(of));
      }
    }
  });

  it('knows code that a planner wrote, and what came of it', async () => {
    const episode = await open(
      await recordedGroup({
        turns: [
          {
            tools: [
              ['run_python', { code: 'pick(cube)\nraise' }, 'Traceback (most recent call last)\nNameError: cube'],
            ],
          },
          {
            content: 'I look.\n```python\ndetect()\n```\nThen\n```python\npick("cube")\n```\n',
            answer: 'KeyError: cube',
          },
          { content: 'no code' },
          {
            tools: [
              ['pick', 'not json', '{"error": "no arguments"}'],
              ['look', {}, '{"ok": true, "error": null}'],
            ],
          },
          { content: 'end' },
        ],
      }),
    );
    const [tool, cells, none, json] = await all(episode);
    expect(tool.toolCalls).toMatchObject([{ kind: 'tool', code: 'pick(cube)\nraise', failed: true, exception: true }]);
    expect(cells.toolCalls).toMatchObject([
      { kind: 'cell', name: 'python', code: 'detect()\n', result: null },
      { kind: 'cell', code: 'pick("cube")\n', result: 'KeyError: cube', exception: true },
    ]);
    expect(none.toolCalls).toEqual([]);
    expect(json.toolCalls).toMatchObject([{ arguments: null, failed: true, exception: false }, { failed: false }]);
  });

  it('tells skills of the embedded world that failed, which moved the arm none the less', async () => {
    const done: Record<SkillCode, boolean> = {
      ...{ held: true, placed: true, moved: true, released: true, opened: true, closed: true },
      ...{ slipped: false, 'nothing-between-fingers': false, unreachable: false, blocked: false },
      ...{ 'not-holding': false, 'already-holding': false, 'handle-missed': false, timeout: false },
    };
    const codes = Object.keys(done) as SkillCode[];
    const told = { ok: false, gripperOpening: 0, tcp: [0, 0, 0] as [number, number, number], seconds: 1 };
    for (const holding of [true, false]) {
      const results = codes.map((code) => describeSkill({ ...told, code, holding }));
      const turns: Turn[] = [{ tools: results.map((result) => ['pick', {}, result]) }, { content: 'x' }];
      const [{ toolCalls }] = await all(await open(await recordedGroup({ turns })));
      expect(toolCalls.map(({ failed }) => failed)).toEqual(codes.map((code) => !done[code]));
      expect(toolCalls.some(({ exception }) => exception)).toBe(false);
    }
    const more = async (_: unknown, folder: string) =>
      writeFileSync(
        join(folder, `${SECTION}/output/e0/trajectory.json`),
        JSON.stringify({ version: 1, spans: [1, 2].map((end) => ({ name: 'pick', start: end - 1, end, held: null })) }),
      );
    const results = ['error: detect first', 'slipped; gripper empty', 'held; holding', 'blocked by the road'];
    const turns: Turn[] = [{ tools: results.map((result) => ['pick', {}, result]) }, { content: 'x' }];
    const [{ toolCalls }] = await all(await open(await recordedGroup({ turns, more })));
    expect(toolCalls.map(({ failed, span }) => [failed, span])).toEqual([
      [true, null],
      [true, 0],
      [false, 1],
      // Words of another harness that only begin alike.
      [false, null],
    ]);
  });

  it('is refused where there is none', async () => {
    const folder = await recordedGroup();
    await expect(open(folder, 'e9')).rejects.toThrow(`${folder}: ${SECTION} holds no episode "e9"`);
    await expect(open(folder, 'e0', '../x')).rejects.toThrow('is no name of a section');
  });
});

describe('damage', () => {
  it('is a position of its own, and the calls around it are there', async () => {
    const folder = await recordedGroup();
    editCalls(folder, (lines) => lines.map((line, k) => (k === 1 ? line.replace('"turn":1', '"turn":"one"') : line)));
    const calls = await all(await open(folder));
    expect(calls.map(({ turn }) => turn)).toEqual([0, 1, 2, 3]);
    expect(calls[1].call).toMatchObject({ damaged: expect.stringMatching(/^turn: /), line: 2 });
    // The next one is stored as what it adds to the damaged one.
    expect(calls[2]).toMatchObject({
      ...{ call: { response: { reasoning: 'thought 2' } } },
      contextDamaged: expect.stringContaining('e0.c1, which is damaged'),
    });
    expect(calls[0].toolCalls).toMatchObject([{ name: 'detect', result: null }]);
  });

  it.each([
    ['a missing line', (lines: string[]) => lines.filter((_, k) => k !== 0), ['0: the call of turn 0 is missing']],
    ['a missing end', (lines: string[]) => lines.filter((_, k) => k !== 3), ['3: the call of turn 3 is missing']],
    [
      'a newer format',
      (lines: string[]) => lines.map((line, k) => (k === 3 ? line.replace('"version":1', '"version":2') : line)),
      [expect.stringMatching(/^3: written by a newer version/)],
    ],
    [
      'a line that was cut within',
      (lines: string[]) => lines.map((line, k) => (k === 3 ? line.slice(0, 200) : line)),
      [expect.stringMatching(/^3: is no JSON/)],
    ],
    [
      'a turn of a billion',
      (lines: string[]) => lines.map((line, k) => (k === 3 ? line.replace('"turn":3', '"turn":1000000000') : line)),
      Array.from({ length: 1000 }, (_, k) => `${k + 3}: the call of turn ${k + 3} is missing`),
    ],
  ])('%s is told', async (_, change, said) => {
    const folder = await recordedGroup();
    editCalls(folder, change);
    const calls = await all(await open(folder));
    const gone = calls.map(words).filter((one) => !/^\d+$/.test(one));
    expect(gone).toEqual(said);
  });

  it.each([
    ['missing', (lines: string[]) => lines.filter((_, k) => k !== 0), /call \S+, which is missing/],
    [
      'of a newer format',
      (lines: string[]) => lines.map((line, k) => (k === 0 ? line.replace('"version":1', '"version":99') : line)),
      /call \S+, which is damaged \(line 1: written by a newer version/,
    ],
    [
      'no call',
      (lines: string[]) =>
        lines.map((line, k) => (k === 0 ? line.replace(/"response":\{/, '"response":7,"x":{') : line)),
      /call \S+, which is damaged \(line 1: response: /,
    ],
  ])('of a first call that is %s leaves what the others hold themselves', async (_, change, reason) => {
    const folder = await recordedGroup();
    const whole = await all(await open(folder));
    editCalls(folder, change);
    const calls = await all(await open(folder));
    expect(isDamaged(calls[0].call)).toBe(true);
    for (const position of [1, 2, 3]) {
      const [now, before] = [calls[position], whole[position]];
      if (isDamaged(now.call) || isDamaged(before.call)) throw new Error('damaged');
      const { request, promptTokenIds, ...own } = now.call;
      const { request: asked, promptTokenIds: _ids, ...recorded } = before.call;
      expect(own).toEqual(recorded);
      expect(now.contextDamaged).toMatch(reason);
      expect(now.contextDamaged).toMatch(/^its messages start from .*; its prompt starts from /);
      expect(promptTokenIds).toBeNull();
      // What the first call sent is not known; what came later is, under its number.
      const unread = request.messages.filter((message) => message === UNREAD_MESSAGE).length;
      expect(unread).toBe(2);
      expect(request.messages.slice(2)).toEqual(asked.messages.slice(2));
      const { sample, scores, toolCalls, turn, span } = before;
      expect(now).toMatchObject({ sample, scores, turn, span });
      expect(now.toolCalls).toEqual(toolCalls);
    }
    const place = await placeAt(await open(folder), 1, 'call');
    expect(await valueAt(parseCondition('damaged contains "messages start from"'), place)).toBe(true);
    expect(await valueAt(parseCondition('messages[0] == null && messages.length > 2'), place)).toBe(true);
    expect(await valueAt(parseCondition('advantage == 1 && reasoning == "thought 1"'), place)).toBe(true);
    const { text } = await readTranscript(await open(folder));
    expect(text).toMatch(/damaged, what the request starts from:\n {4}its messages start from call /);
    expect(text).toContain('messages 0 to 1 cannot be read');
    expect(text).toContain('thought 1');
    expect(text).toContain('<- place:');
  });

  it('of all messages leaves what the calls hold themselves', async () => {
    const folder = await recordedGroup();
    rmSync(join(folder, 'messages.jsonl'));
    for (const told of await all(await open(folder))) {
      if (isDamaged(told.call)) throw new Error(told.call.damaged);
      expect(told.call.response?.reasoning).toBe(`thought ${told.turn}`);
      expect(told.call.request.messages.every((message) => message === UNREAD_MESSAGE)).toBe(true);
      expect(told.call.promptTokenIds?.length).toBeGreaterThan(0);
      expect(told.contextDamaged).toMatch(/^the body [0-9a-f]{64} is missing/);
      expect(told.sample).not.toBeNull();
    }
  });

  it('of records about the episode is told beside it', async () => {
    const folder = await recordedGroup();
    const path = (name: string) => join(folder, SECTION, name);
    writeFileSync(path('samples.jsonl'), readFileSync(path('samples.jsonl'), 'utf8').replace('"selected"', '"chosen"'));
    writeFileSync(path('scores.jsonl'), readFileSync(path('scores.jsonl'), 'utf8').replace('"pass":0', '"pass":-1'));
    writeFileSync(
      path('episodes.jsonl'),
      readFileSync(path('episodes.jsonl'), 'utf8').replace('"reward":1', '"reward":"x"'),
    );
    const episode = await open(folder);
    expect(episode.outcome).toMatchObject({
      record: null,
      reason: expect.stringMatching(/^episodes\.jsonl, line 1: reward: /),
    });
    expect([episode.open, episode.group]).toEqual([false, []]);
    const first = await episode.call(0);
    expect(first.problems).toEqual([
      expect.stringMatching(/^samples\.jsonl, line 1: status: /),
      expect.stringMatching(/^scores\.jsonl, line 1: pass: /),
    ]);
    expect([first.sample, first.scores.length]).toEqual([null, 1]);
  });

  it('of a trajectory leaves calls without spans', async () => {
    for (const [content, said] of [
      ['{"spans": 3}', /trajectory\.json: spans: /],
      ['{"spans"', /trajectory\.json: is no JSON/],
      [undefined, /trajectory\.json: the file is gone/],
      [65 * 1024 * 1024, /trajectory\.json: is too large to be shown \(68157440 bytes, at most 67108864\)/],
    ] as const) {
      const folder = await recordedGroup();
      const path = join(folder, SECTION, 'output/e0/trajectory.json');
      if (content === undefined) rmSync(path);
      else if (typeof content === 'number') truncateSync(path, content);
      else writeFileSync(path, content);
      const episode = await open(folder);
      expect((await episode.spans()).problem).toMatch(said);
      expect((await episode.call(0)).span).toBeNull();
    }
  });
});

describe('a run that is being written', () => {
  it('shows calls as they come, then the outcome', async () => {
    const folder = await recordedGroup();
    const run = await openRun(folder);
    const section = run.section(SECTION);
    const [first, second] = callsOf('e7', TURNS);
    await section.appendCall(first);
    const episode = await open(folder, 'e7');
    expect([episode.length, episode.open, episode.outcome.reason]).toEqual([
      1,
      true,
      'it has no record yet: it is running, or its run was killed',
    ]);
    expect((await episode.call(0)).toolCalls[0].result).toBeNull();
    expect(await episode.refresh()).toBe(false);
    await section.appendCall(second);
    appendFileSync(join(folder, SECTION, 'calls.jsonl'), '{"version":1,"id":"e7.c2","episode":"e7","tu');
    expect(await episode.refresh()).toBe(true);
    expect([episode.length, (await episode.call(0)).toolCalls[0].result]).toEqual([2, 'red-cube\nplate']);
    await section.appendEpisode({ ...record('e7'), attempt: 7, turns: 2 });
    await episode.refresh();
    expect([episode.open, episode.length, episode.group.length]).toEqual([false, 2, 4]);
    await run.close();
  });

  it('was stopped before the episode ended', async () => {
    const folder = await recordedGroup();
    const run = await openRun(folder);
    await run.section(SECTION).appendCall(callsOf('e7', TURNS)[0]);
    await run.journal({ type: 'run-stopped', reason: 'now' });
    await run.close();
    const episode = await open(folder, 'e7');
    expect([episode.open, episode.outcome.reason]).toEqual([false, 'it has no record: the run ended before it did']);
  });
});
