/** Folders a person names are made wherever they can be, and refused in one sentence where they cannot. */
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRun, makeFolder } from '../../../../trainer-daemon/store/index.ts';
import { runInfo } from './runs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'make folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('makeFolder', () => {
  it('makes the parents that are missing and gives the topmost', async () => {
    const target = join(folder, 'a', 'b', 'c');
    expect(await makeFolder(target)).toBe(join(folder, 'a'));
    expect(existsSync(target)).toBe(true);
    expect(await makeFolder(target)).toBeUndefined();
  });

  it('makes a folder that several ask for at once', async () => {
    const target = join(folder, 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(target)));
    expect(existsSync(target)).toBe(true);
  });

  it('refuses a file, a place below one, and a link to nothing', async () => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'nowhere', 'at all'), join(folder, 'link'));
    await expect(makeFolder(join(folder, 'file'))).rejects.toThrow('EEXIST');
    await expect(makeFolder(join(folder, 'file', 'x'))).rejects.toThrow('ENOTDIR');
    await expect(makeFolder(join(folder, 'link'))).rejects.toThrow('EEXIST');
  });

  it.skipIf(process.platform !== 'linux')('refuses /proc at once, in words', { timeout: 5000 }, async () => {
    const refusal = /\/proc\/no-such-run: could not create the run directory: no folder can be made in \/proc/;
    await expect(createRun('/proc/no-such-run', runInfo)).rejects.toThrow(refusal);
    await expect(makeFolder('/proc/no-such-run/deeper')).rejects.toThrow('no folder can be made in /proc');
  });
});
