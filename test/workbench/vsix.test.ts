/** The packaged extension: nothing in it that does not belong there, and all in it that a training needs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalOf, quickConfig } from '../integration/quick-run.ts';
import { VSIX } from './bed/server.ts';
import { readZip, unpack } from './bed/unzip.ts';

/** Everything that may be in it. */
const ALLOWED = [
  /^\[Content_Types\]\.xml$/,
  /^extension\.vsixmanifest$/,
  /^extension\/(?:readme\.md|changelog\.md|LICENSE\.txt|ThirdPartyNotices\.txt|package\.json|package\.nls\.json)$/,
  /^extension\/l10n\/bundle\.l10n\.json$/,
  /^extension\/media\/[\w./-]+\.(?:png|svg|json|md|ts|yaml)$/,
  /^extension\/docs\/(?:findings\/)?[a-z0-9-]+\.md$/,
  /^extension\/examples\/(?:adapters\/)?[\w.-]+\.(?:ts|mjs|yaml)$/,
  /^extension\/dist\/(?:chunks\/)?[\w.-]+\.mjs$/,
  /^extension\/dist\/(?:extension\.cjs|run-page\.css|adapter\.d\.ts|shipped-adapters\.json)$/,
  /^extension\/node_modules\/onnxruntime-node\/(?:package\.json|dist\/[\w-]+\.js)$/,
  new RegExp(`^extension/node_modules/onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/[\\w.]+$`),
  /^extension\/node_modules\/onnxruntime-common\/(?:package\.json|dist\/cjs\/[\w-]+\.js|dist\/cjs\/package\.json)$/,
  /^extension\/node_modules\/@mujoco\/mujoco\/(?:package\.json|mujoco\.js|mujoco\.wasm)$/,
];
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
    expect(names.filter((name) => !ALLOWED.some((pattern) => pattern.test(name)))).toEqual([]);
    for (const pattern of ALLOWED) expect(names.some((name) => pattern.test(name))).toBe(true);
    expect(statSync(VSIX).size).toBeLessThan(LARGEST);
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
