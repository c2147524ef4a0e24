/** The VSIX of platforms that are not this one: built and looked into, never run. */
import { spawnSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allowedIn } from '../workbench/bed/allowed.ts';
import { readZip } from '../workbench/bed/unzip.ts';

const root = resolve(import.meta.dirname, '../..');
const here = `${process.platform}-${process.arch}`;
const targets = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64', 'win32-arm64'].filter((one) => one !== here);
/** Bytes; Windows has DirectML beside ONNX Runtime. */
const LARGEST = 45e6;

describe.each(targets)('the VSIX of %s', (target) => {
  it('holds what belongs there, and nothing else', () => {
    const file = join(root, `agentic-robo-rl-${target}.vsix`);
    onTestFinished(() => rmSync(file, { force: true }));
    const made = spawnSync(process.execPath, ['scripts/package/main.mjs', '--target', target], {
      cwd: root,
      encoding: 'utf8',
    });
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(made.stdout).toContain('(not tried: another platform)');
    const [platform, arch] = target.split('-');
    const files = readZip(file);
    const allowed = allowedIn(platform, arch);
    expect([...files.keys()].filter((name) => !allowed.some((pattern) => pattern.test(name)))).toEqual([]);
    for (const pattern of allowed) expect([...files.keys()].some((name) => pattern.test(name))).toBe(true);
    expect(files.get('extension.vsixmanifest')?.toString()).toContain(`TargetPlatform="${target}"`);
    console.log(`${target}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
    expect(statSync(file).size).toBeLessThan(LARGEST);
  });
});
