/** Which episode is meant. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CommandError } from '../../../../cli/exit.ts';
import { chooseEpisode, type Selectors, severalWords } from '../../../../cli/replay/choose.ts';
import { openRecording } from '../../../../recordings/index.ts';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { call, episode, runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';

const ROUND = 'rounds/0001';

/** Two tasks in a round, a repeated try, a teacher's episode of the same task, and one that is running. */
async function recorded(damage?: (folder: string) => void) {
  const folder = temporaryFolder();
  const run = await createRun(folder, runInfo);
  const add = async (section: string, id: string, fields: object) => {
    await run.section(section).appendCall(call({ episode: id }));
    await run.section(section).appendEpisode({ ...episode(id), ...fields });
  };
  await add('teacher', 'x.t0.s-0.i11.a0.0', { role: 'teacher', task: 's/0' });
  await add(ROUND, 'x.r1.s-0.i11.a0.0', { task: 's/0', attempt: 0 });
  await add(ROUND, 'x.r1.s-0.i11.a1.0', { task: 's/0', attempt: 1, valid: false, invalidReason: 'it hung' });
  await add(ROUND, 'x.r1.s-0.i11.a1.1', { task: 's/0', attempt: 1, tryNumber: 1 });
  await add(ROUND, 'x.r1.s-1.i12.a0.0', { task: 's/1', init: 12 });
  await run.section(ROUND).appendCall(call({ episode: 'x.r1.s-1.i13.a0.0' }));
  const sample = { u: null, promptLength: 1, responseLength: 1, status: 'not-selected' as const };
  await run.section(ROUND).appendLines('samples.jsonl', [
    { call: 'x.r1.s-0.i11.a0.0.c0', episode: 'x.r1.s-0.i11.a0.0', advantage: 0.5, ...sample },
    { call: 'x.r1.s-0.i11.a1.1.c0', episode: 'x.r1.s-0.i11.a1.1', advantage: -0.5, ...sample },
    { call: 'x.r1.s-1.i12.a0.0.c0', episode: 'x.r1.s-1.i12.a0.0', advantage: -0.25, ...sample },
  ]);
  await run.close();
  damage?.(folder);
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  return (selectors: Partial<Selectors>) => chooseEpisode(recording, { words: [], ...selectors });
}

const refusal = (text: RegExp) =>
  expect.objectContaining({ message: expect.stringMatching(text), exitCode: 2 }) as unknown as CommandError;

describe('choosing an episode', () => {
  it('by its id, or a start of it that is its alone', async () => {
    const choose = await recorded();
    expect(await choose({ words: ['x.r1.s-1.i12.a0.0'] })).toEqual({ section: ROUND, id: 'x.r1.s-1.i12.a0.0' });
    expect(await choose({ words: ['x.t'] })).toEqual({ section: 'teacher', id: 'x.t0.s-0.i11.a0.0' });
    // It has no record yet, only calls.
    expect(await choose({ words: ['x.r1.s-1.i13'] })).toEqual({ section: ROUND, id: 'x.r1.s-1.i13.a0.0' });
  });

  it('by task, state and attempt, of which the last try counts', async () => {
    const choose = await recorded();
    expect(await choose({ words: ['s/0', '11', '1'] })).toEqual({ section: ROUND, id: 'x.r1.s-0.i11.a1.1' });
    expect(await choose({ round: 1, task: 's/1', init: 12 })).toEqual({ section: ROUND, id: 'x.r1.s-1.i12.a0.0' });
    expect(await choose({ section: 'teacher' })).toEqual({ section: 'teacher', id: 'x.t0.s-0.i11.a0.0' });
  });

  it('by its lowest advantage, among those that are meant', async () => {
    const choose = await recorded();
    expect(await choose({ lowestAdvantage: true })).toEqual({
      section: ROUND,
      id: 'x.r1.s-0.i11.a1.1',
      call: 'x.r1.s-0.i11.a1.1.c0',
    });
    expect(await choose({ lowestAdvantage: true, task: 's/1' })).toMatchObject({ call: 'x.r1.s-1.i12.a0.0.c0' });
    await expect(choose({ lowestAdvantage: true, section: 'teacher' })).rejects.toEqual(refusal(/has an advantage/));
  });

  it('leaves the choice where several are meant, and names some', async () => {
    const choose = await recorded();
    const found = await choose({ words: ['s/0', '11', '0'] });
    if (!('several' in found)) throw new Error('one was chosen');
    expect(found.several.map(({ section }) => section)).toEqual(['teacher', ROUND]);
    expect(severalWords(found.several)).toContain('x.t0.s-0.i11.a0.0, x.r1.s-0.i11.a0.0');
    expect(await choose({})).toMatchObject({ several: { length: 5 } });
  });

  it('lists episodes whose record is damaged as such, and finds them by what can be read of them', async () => {
    const choose = await recorded((folder) => {
      const path = join(folder, ROUND, 'episodes.jsonl');
      const [first, second, ...others] = readFileSync(path, 'utf8').split('\n');
      const lines = [first.replace('"reward":1', '"reward":"high"'), second.replace('"version":1', '"version":9')];
      writeFileSync(path, [...lines, ...others].join('\n'));
    });
    const found = await choose({ section: ROUND });
    if (!('several' in found)) throw new Error('one was chosen');
    expect(found.several.map(({ id, state }) => [id.slice(9), state])).toEqual([
      ['i11.a0.0', 'damaged'],
      ['i11.a1.1', 'ended'],
      ['i12.a0.0', 'ended'],
      ['i13.a0.0', 'running'],
    ]);
    expect(await choose({ section: ROUND, task: 's/0', attempt: 0 })).toEqual({
      ...{ section: ROUND, id: 'x.r1.s-0.i11.a0.0' },
    });
  });

  it('says what there is where nothing is meant', async () => {
    const choose = await recorded();
    await expect(choose({ words: ['x.r1.s-1.i12.a0.1'] })).rejects.toEqual(
      refusal(/did you mean "x\.r1\.s-1\.i12\.a0\.0"/),
    );
    await expect(choose({ task: 's/7' })).rejects.toEqual(refusal(/there are 6, such as .*s\/0/));
    await expect(choose({ section: 'rounds/0002' })).rejects.toEqual(refusal(/there are teacher, rounds\/0001/));
    await expect(choose({ words: ['s/0', '11'] })).rejects.toEqual(refusal(/by task, initial state and attempt/));
    await expect(choose({ words: ['s/0', 'x', '1'] })).rejects.toEqual(refusal(/by task, initial state and attempt/));
    await expect(choose({ round: 1, section: 'teacher' })).rejects.toEqual(refusal(/not both/));
  });

  it('says so in a run without episodes', async () => {
    const folder = temporaryFolder();
    await (await createRun(folder, runInfo)).close();
    const recording = await openRecording(folder);
    onTestFinished(() => recording.close());
    await expect(chooseEpisode(recording, { words: [] })).rejects.toEqual(refusal(/holds no episode yet/));
  });
});
