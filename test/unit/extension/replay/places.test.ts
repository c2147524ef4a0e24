import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { liesIn, readLink, runDirectory, sectionOf } from '../../../../extension/replay/places.ts';
import { temporaryFolder } from '../../trainer-daemon/store/runs.ts';

function workspace(): { folder: string; run: string } {
  const folder = temporaryFolder();
  const run = join(folder, 'runs', 'a b-2026');
  mkdirSync(join(run, 'rounds/0001'), { recursive: true });
  mkdirSync(join(run, 'teacher'));
  writeFileSync(join(run, 'run.json'), '{}');
  return { folder, run };
}

describe('a run', () => {
  it('is found by its path, its name and its place in the workspace', () => {
    const { folder, run } = workspace();
    const other = temporaryFolder();
    for (const name of [run, `${run}/`, 'a b-2026', 'runs/a b-2026', './runs/../runs/a b-2026'])
      expect(runDirectory(name, [other, folder])).toBe(run);
    expect(runDirectory('none', [other, folder])).toBe(join(other, 'none'));
  });

  it('lies in the workspace only where it really does', () => {
    const { folder, run } = workspace();
    const other = workspace();
    expect([liesIn(run, [folder]), liesIn(other.run, [folder]), liesIn(folder, [folder])]).toEqual([true, false, true]);
    symlinkSync(other.run, join(folder, 'runs', 'link'));
    expect(liesIn(join(folder, 'runs', 'link'), [folder])).toBe(false);
    expect(liesIn(join(folder, '..', 'x'), [folder])).toBe(false);
    expect(liesIn(`${folder}-other/runs/x`, [folder])).toBe(false);
    expect(liesIn(join(folder, '..x'), [folder])).toBe(true);
  });

  it('is told by the files of its sections', () => {
    const { run } = workspace();
    expect(sectionOf(join(run, 'rounds/0001/calls.jsonl'))).toEqual({ directory: run, section: 'rounds/0001' });
    expect(sectionOf(join(run, 'teacher/episodes.jsonl'))).toEqual({ directory: run, section: 'teacher' });
    expect(sectionOf(join(run, 'messages.jsonl'))).toBeUndefined();
    expect(sectionOf(join(run, '../calls.jsonl'))).toBeUndefined();
    expect(sectionOf('calls.jsonl')).toBeUndefined();
  });
});

describe('a link', () => {
  it('says what to replay', () => {
    expect(readLink('/replay', 'run=runs%2Fa%20b&episode=1.r1&turn=3&group=true&section=rounds%2F0001')).toEqual({
      ...{ run: 'runs/a b', episode: '1.r1', section: 'rounds/0001', turn: 3, group: true },
    });
    expect(readLink('/replay', 'run=/x&episode=e')).toEqual({ run: '/x', episode: 'e' });
  });

  it.each([
    ['/other', 'run=x&episode=e', 'there is nothing at /other'],
    ['/replay', '', '"run" is missing'],
    ['/replay', 'run=x', '"episode" is missing'],
    ['/replay', 'run=x&episode=e&turn=-1', '"turn" of the link is no whole number'],
    ['/replay', 'run=x&episode=e&turn=1e3', '"turn" of the link is no whole number'],
    ['/replay', 'run=//host/share&episode=e', 'no path on this machine'],
    ['/replay', 'run=%5C%5Chost%5Cshare&episode=e', 'no path on this machine'],
    ['/replay', 'run=file:///x&episode=e', 'no path on this machine'],
    ['/replay', 'run=x%00y&episode=e', '"run" of the link is no name'],
    ['/replay', `run=x&episode=${'e'.repeat(5000)}`, '"episode" of the link is no name'],
  ])('%s?%s is refused', (path, query, said) => {
    expect(readLink(path, query)).toMatchObject({ problem: expect.stringContaining(said) });
  });
});
