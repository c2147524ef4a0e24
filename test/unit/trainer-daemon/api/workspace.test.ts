import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Workspace } from '../../../../trainer-daemon/api/workspace.ts';

function workspace() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'arrl ws ü-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'ws');
  mkdirSync(join(folder, 'runs', 'demo'), { recursive: true });
  writeFileSync(join(folder, 'runs', 'demo', 'run.json'), '{}');
  mkdirSync(join(root, 'ws-other'));
  return { root, folder, place: new Workspace(folder) };
}

describe('paths of a workspace', () => {
  it('may be relative or absolute, and need not exist yet', () => {
    const { folder, place } = workspace();
    expect(place.path('a/b.yaml')).toBe(join(folder, 'a', 'b.yaml'));
    expect(place.path(join(folder, 'runs', '..', 'x'))).toBe(join(folder, 'x'));
    expect(place.path('.')).toBe(folder);
  });

  it.each(['..', '../ws-other/x', '/etc/passwd', 'runs/../../ws-other', 'a\0b'])('do not lead out: %j', (named) => {
    const { place } = workspace();
    expect(() => place.path(named)).toThrow(expect.objectContaining({ kind: 'outside' }));
  });

  it('do not lead out through links, wherever in the path they are', () => {
    const { root, folder, place } = workspace();
    symlinkSync(join(root, 'ws-other'), join(folder, 'link'));
    symlinkSync('link', join(folder, 'chain'));
    for (const named of ['link', 'link/new/file', 'chain/x'])
      expect(() => place.path(named)).toThrow(expect.objectContaining({ kind: 'outside' }));
    symlinkSync(join(folder, 'runs'), join(folder, 'inside'));
    expect(place.path('inside/demo')).toBe(join(folder, 'runs', 'demo'));
  });
});

describe('runs of a workspace', () => {
  it('are named by their path, or by their name in runs/', () => {
    const { folder, place } = workspace();
    const demo = join(folder, 'runs', 'demo');
    for (const named of ['demo', 'runs/demo', demo]) expect(place.run(named)).toBe(demo);
    expect(place.runName(demo)).toBe('runs/demo');
    expect(() => place.run('dmeo')).toThrow('there is no run "dmeo"; did you mean "runs/demo"?');
    expect(place.runDirectories()).toEqual([demo]);
  });

  it('elsewhere are not listed when runs/ is a link', () => {
    const { root, folder, place } = workspace();
    mkdirSync(join(root, 'ws-other', 'foreign'));
    writeFileSync(join(root, 'ws-other', 'foreign', 'run.json'), '{}');
    rmSync(join(folder, 'runs'), { recursive: true });
    symlinkSync(join(root, 'ws-other'), join(folder, 'runs'));
    expect(place.runDirectories()).toEqual([]);
  });

  it('get new folders that nobody has taken', () => {
    const { place } = workspace();
    const first = place.newRun('demo', () => false);
    expect(first).toMatch(/runs\/demo-\d{8}T\d{6}Z$/);
    // Within one second, or across its turn: never one of those that are taken.
    const taken = new Set([first]);
    for (let i = 0; i < 3; i++) {
      const next = place.newRun('demo', (directory) => taken.has(directory));
      expect(taken).not.toContain(next);
      taken.add(next);
    }
  });
});
