import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { placeFolder } from '../../../../trainer-daemon/training/policies.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policies-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('copies what links lead to, so that a run holds its planner itself', async () => {
  await mkdir(join(folder, 'blobs'));
  await mkdir(join(folder, 'snapshot'));
  await writeFile(join(folder, 'blobs', 'abc'), '{}');
  await symlink(join('..', 'blobs', 'abc'), join(folder, 'snapshot', 'config.json'));
  await symlink('snapshot', join(folder, 'planner'));
  const to = join(folder, 'run', 'policies', 'v0000');
  await placeFolder(join(folder, 'planner'), to, 'the planner');
  expect((await lstat(to)).isDirectory()).toBe(true);
  expect((await lstat(join(to, 'config.json'))).isFile()).toBe(true);
  await writeFile(join(to, 'policy.json'), '{}');
  expect(await readdir(join(folder, 'snapshot'))).toEqual(['config.json']);
  await rm(join(folder, 'blobs'), { recursive: true });
  expect(await readFile(join(to, 'config.json'), 'utf8')).toBe('{}');
});
