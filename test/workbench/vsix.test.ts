/** The packaged extension: nothing in it that does not belong there, and all in it that a training needs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalOf, quickConfig } from '../integration/quick-run.ts';
import { allowedIn } from './bed/allowed.ts';
import { VSIX } from './bed/extension.ts';
import { readZip, unpack } from './bed/unzip.ts';

const allowed = allowedIn(process.platform, process.arch);
const LARGEST = 25e6;

describe('the packaged extension', () => {
  const folder = mkdtempSync(join(tmpdir(), 'arrl vsix ü-'));
  const inside = join(folder, 'extension');
  let files: Map<string, Buffer>;
  beforeAll(() => {
    files = readZip(VSIX);
    unpack(files, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const node = (...args: string[]) =>
    spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });

  it('holds what belongs there, and nothing else', () => {
    const names = [...files.keys()];
    expect(names.filter((name) => !allowed.some((pattern) => pattern.test(name)))).toEqual([]);
    for (const pattern of allowed) expect(names.some((name) => pattern.test(name))).toBe(true);
    expect(statSync(VSIX).size).toBeLessThan(LARGEST);
  });

  it('speaks one language where a package brings fifty along', () => {
    const programs = [...files].filter(([name]) => /^extension\/dist\/.*\.[cm]js$/.test(name));
    expect(programs.filter(([, text]) => text.includes('Invalid input')).length).toBeGreaterThan(0);
    // How zod says it in German.
    expect(programs.filter(([, text]) => text.includes('ltige Eingabe')).map(([name]) => name)).toEqual([]);
  });

  it('has a page without pictures that it does not hold', () => {
    const page = files.get('extension/readme.md')?.toString() ?? '';
    expect(page).toContain('## In VS Code');
    expect(page).not.toMatch(/!\[/);
  });

  it('says for which platform it is, and needs nothing but what it holds', () => {
    expect(files.get('extension.vsixmanifest')?.toString()).toContain(
      `TargetPlatform="${process.platform}-${process.arch}"`,
    );
    const manifest = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(manifest).not.toHaveProperty('scripts');
    for (const name of Object.keys(manifest.dependencies))
      expect(files.has(`extension/node_modules/${name}/package.json`)).toBe(true);
  });

  it('names every file that the manifest points at', () => {
    const manifest = readFileSync(join(inside, 'package.json'), 'utf8');
    for (const [, path] of manifest.matchAll(/"\.?\/?((?:media|dist|l10n)\/[^"]+)"/g))
      expect(files.has(`extension/${path}`), path).toBe(true);
  });

  it('trains: world, planner and trainer run from it', () => {
    const world = node(
      '--input-type=module',
      '-e',
      `await import(${JSON.stringify(join(inside, 'node_modules/@mujoco/mujoco/mujoco.js'))}).then(({ default: load }) => load()).then((m) => console.log(typeof m.MjModel))`,
    );
    expect([world.stdout.trim(), world.stderr]).toEqual(['function', '']);
    const config = join(folder, 'quick.training.json');
    writeFileSync(config, JSON.stringify(quickConfig));
    const trained = node(join(inside, 'dist/cli.mjs'), 'train', config, '--run', join(folder, 'run'), '--json');
    expect([trained.status, trained.stderr]).toEqual([0, '']);
    expect(journalOf(join(folder, 'run')).at(-1)?.type).toBe('run-finished');
  });
});
