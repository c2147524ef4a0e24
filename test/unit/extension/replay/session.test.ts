import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ReplaySession } from '../../../../extension/replay/session.ts';
import { ReplaySessions } from '../../../../extension/replay/sessions.ts';
import { RecordingError } from '../../../../recordings/index.ts';
import { openRun } from '../../../../trainer-daemon/store/index.ts';
import { callsOf, recordedGroup, SECTION, TURNS } from '../../recordings/replay/hand-made.ts';
import { episode as record } from '../../trainer-daemon/store/runs.ts';

async function open(directory: string, episode = 'e0'): Promise<ReplaySession> {
  const session = await ReplaySession.open({ directory, section: SECTION, episode }, () => {});
  onTestFinished(() => session.close());
  return session;
}

describe('a replay session', () => {
  it('is shared: each who listens hears of every move, whoever makes it', async () => {
    const session = await open(await recordedGroup());
    const heard: string[] = [];
    const one = session.onDidMove(({ to }) => heard.push(`one ${to.call}`));
    session.onDidMove(() => {
      throw new Error('a listener that fails');
    });
    session.onDidMove(({ to }) => heard.push(`two ${to.call}`));
    await session.cursor.stepForward();
    one.dispose();
    await session.cursor.stepForward();
    expect(heard).toEqual(['one 1', 'two 1', 'two 2']);
    expect(await session.current()).toMatchObject({ position: 2, sample: { status: 'selected' } });
    await session.cursor.toEnd();
    expect(session.episode.outcome.record?.reward).toBe(1);
  });

  it('loads a group, each attempt once', async () => {
    const session = await open(await recordedGroup(), 'e1');
    let changes = 0;
    session.onDidChange(() => changes++);
    expect(await session.loadGroup()).toEqual([]);
    expect(session.episodes.map(({ id }) => id)).toEqual(['e1', 'e0', 'e2']);
    expect([await session.load('e0'), await session.load('e1'), changes]).toEqual([1, 0, 2]);
    await expect(session.load('e9')).rejects.toThrow(RecordingError);
    await session.cursor.stepForward(1);
    expect(session.episode.id).toBe('e0');
  });

  it('says which attempts of a group are damaged or lack, and loads what there is of them', async () => {
    const folder = await recordedGroup();
    const path = join(folder, SECTION, 'episodes.jsonl');
    const [e0, e1, e2] = readFileSync(path, 'utf8').split('\n');
    const lines = [e0, e1.replace('"version":1', '"version":9'), e2.replace('"attempt":2', '"attempt":3')];
    writeFileSync(path, `${lines.join('\n')}\n`);
    const session = await open(folder);
    expect(await session.loadGroup()).toEqual([
      expect.stringMatching(/^attempt 1 of the group \(e1\) is damaged: episodes\.jsonl, line 2: written by a newer/),
      'attempt 2 of the group lacks: it has no record',
    ]);
    expect(session.episodes.map(({ id }) => id)).toEqual(['e0', 'e2', 'e1']);
  });

  it('tells the calls from one on without the times that they took, line by line as otherwise', async () => {
    const session = await open(await recordedGroup());
    const usual = await session.transcript(0);
    const compared = await session.transcript(0, { mode: 'from', call: 1 });
    const timeless = (lines: readonly string[]) => lines.map((line) => line.replace(/^(turn .*) · \d+ ms/, '$1'));
    expect(usual.text.match(/^turn .* · \d+ ms/gm)).toHaveLength(4);
    expect(compared.text).not.toMatch(/\d ms/);
    const from = (text: typeof usual) => text.lines.slice((text.lineOf(1, 'call') ?? 0) - 1);
    expect(from(compared)).toEqual(timeless(from(usual)));
    expect(compared.sections.map(({ call, part }) => [call, part])).toEqual([
      [1, 'call'],
      [2, 'call'],
      [3, 'call'],
      [3, 'outcome'],
    ]);
  });

  it('takes up what is written by itself, and tells of it', async () => {
    const folder = await recordedGroup();
    const run = await openRun(folder);
    const [first, second] = callsOf('e7', TURNS);
    await run.section(SECTION).appendCall(first);
    const session = await open(folder, 'e7');
    expect((await session.transcript(0)).text).not.toContain('turn 1');
    const changed = new Promise<void>((resolve) => session.onDidChange(resolve));
    await run.section(SECTION).appendCall(second);
    await changed;
    expect((await session.transcript(0)).text).toContain('turn 1');
    expect(session.cursor.position.call).toBe(1);
    await run.section(SECTION).appendEpisode({ ...record('e7'), turns: 2 });
    await session.refresh();
    expect(session.cursor.position.part).toBe('outcome');
    expect(await session.refresh()).toBe(false);
    await run.close();
  });

  it('gives the transcript as it is looked at', async () => {
    const session = await open(await recordedGroup());
    const [usual, full] = [await session.transcript(0), await session.transcript(0, { mode: 'full' })];
    expect(full.lines.length).toBeGreaterThan(usual.lines.length);
    expect(await session.transcript(0)).toBe(usual);
    expect((await session.transcript(0, { mode: 'from', call: 2 })).sections.map(({ call }) => call)).toEqual([
      2, 3, 3,
    ]);
    await expect(session.transcript(0, { mode: 'sampled', call: 0 })).rejects.toThrow(RangeError);
  });
});

describe('the sessions of a window', () => {
  it('are one an episode, open until the last who asked for it has let go', async () => {
    const directory = await recordedGroup();
    const sessions = new ReplaySessions(() => {});
    onTestFinished(() => sessions.dispose());
    const target = { directory, section: SECTION, episode: 'e0' };
    const shown: (string | undefined)[] = [];
    sessions.onDidChangeCurrent((session) => shown.push(session?.target.episode));
    const [a, b, other] = await Promise.all([
      sessions.acquire(target),
      sessions.acquire({ ...target, directory: `${directory}/` }),
      sessions.acquire({ ...target, episode: 'e1' }),
    ]);
    expect([a === b, a === other]).toEqual([true, false]);
    let closed = 0;
    a.onDidClose(() => closed++);
    sessions.show(a);
    sessions.show(a);
    await sessions.release(a);
    expect([closed, sessions.current === a]).toEqual([0, true]);
    await sessions.release(a);
    expect([closed, sessions.current, shown]).toEqual([1, undefined, ['e0', undefined]]);
    // Once too often does no harm, and it can be opened again.
    await sessions.release(a);
    expect(await sessions.acquire(target)).not.toBe(a);
  });

  it('forget one that could not be opened', async () => {
    const sessions = new ReplaySessions(() => {});
    const target = { directory: await recordedGroup(), section: SECTION, episode: 'e9' };
    await expect(sessions.acquire(target)).rejects.toThrow('holds no episode "e9"');
    await expect(sessions.acquire({ ...target, directory: '/nowhere' })).rejects.toThrow(RecordingError);
    expect(await sessions.acquire({ ...target, episode: 'e0' })).toBeInstanceOf(ReplaySession);
    await sessions.dispose();
  });
});
