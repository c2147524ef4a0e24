import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { inspectCheckpoint, requireSoundCheckpoint } from '../../../../trainer-daemon/planner/inspect-checkpoint.ts';
import { tinyPlanner } from './tiny-planner.ts';

let folder: string;
beforeEach(async () => {
  folder = await tinyPlanner();
});

async function problems(): Promise<string[]> {
  return (await inspectCheckpoint(folder)).problems.map(
    ({ severity, file, message }) => `${severity} ${basename(file)} ${message}`,
  );
}

async function editJson(name: string, change: Record<string, unknown>): Promise<void> {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...change }));
}

describe('inspectCheckpoint', () => {
  it('finds nothing against a sound planner, and tells what it is', async () => {
    const inspection = await inspectCheckpoint(folder);
    expect(inspection.problems).toEqual([]);
    expect(inspection.architecture).toMatchObject({ layers: 2, vocabulary: 360 });
    expect(inspection.endTokenIds).toContain(inspection.tokenizer?.endTokenId);
    expect((await requireSoundCheckpoint(folder)).warnings).toEqual([]);
  });

  it('names the folder before its files, and the architecture before the tokenizer', async () => {
    await rm(join(folder, 'tokenizer.json'));
    await editJson('config.json', { architectures: ['LlamaForCausalLM'] });
    expect(await problems()).toEqual([
      expect.stringContaining('error config.json the architecture is LlamaForCausalLM'),
    ]);
    await rm(folder, { recursive: true });
    expect((await inspectCheckpoint(folder)).problems).toEqual([
      { severity: 'error', file: folder, message: expect.stringContaining('does not exist') },
    ]);
    await expect(requireSoundCheckpoint(folder)).rejects.toThrow(`${folder}: does not exist`);
  });

  it('reports weights and tokenizer together, weights first', async () => {
    await truncate(join(folder, 'model.safetensors'), 100_000);
    await rm(join(folder, 'tokenizer.json'));
    expect(await problems()).toEqual([
      expect.stringContaining('error model.safetensors the file is cut short'),
      expect.stringContaining('error tokenizer.json'),
    ]);
    await expect(requireSoundCheckpoint(folder)).rejects.toThrow('model.safetensors: the file is cut short');
  });

  it('gives the line of a broken config.json', async () => {
    await writeFile(join(folder, 'config.json'), '{\n"hidden_size": NaN}');
    expect((await inspectCheckpoint(folder)).problems).toMatchObject([{ file: join(folder, 'config.json'), line: 2 }]);
  });
});
