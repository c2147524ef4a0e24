import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../protocol/random.ts';
import { tensorSpecs } from '../../../../trainer-daemon/planner/architecture.ts';
import { readArchitecture } from '../../../../trainer-daemon/planner/checkpoint.ts';
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

  it('does not say of a folder that cannot be looked into that it does not exist', async () => {
    const { problems } = await inspectCheckpoint(join(folder, 'x'.repeat(5000)));
    expect(problems).toMatchObject([{ message: expect.stringContaining('cannot be looked into (ENAMETOOLONG)') }]);
    const beneath = await inspectCheckpoint(join(folder, 'config.json', 'x'));
    expect(beneath.problems).toMatchObject([{ message: expect.stringContaining('does not exist') }]);
  });

  it('reads a folder of links, as the Hugging Face cache lays them out', async () => {
    const linked = join(folder, 'snapshot');
    await mkdir(linked);
    for (const name of await readdir(folder))
      if (name !== 'snapshot') await symlink(join('..', name), join(linked, name));
    expect((await inspectCheckpoint(linked)).problems).toEqual([]);
    await rm(join(folder, 'tokenizer.json'));
    expect((await inspectCheckpoint(linked)).problems).toMatchObject([
      { file: join(linked, 'tokenizer.json'), message: expect.stringContaining('does not exist') },
    ]);
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

  it('passes on what is doubtful as warnings', async () => {
    await editJson('generation_config.json', { eos_token_id: 3 });
    await rm(join(folder, 'chat_template.jinja'));
    expect(await problems()).toEqual([
      'warning tokenizer_config.json its chat_template is used, because chat_template.jinja does not exist',
      expect.stringContaining('but eos_token_id of the model is 3: responses will not end'),
    ]);
    expect((await requireSoundCheckpoint(folder)).warnings).toHaveLength(2);
  });

  it.runIf(existsSync('/proc/self/io'))('does not read the numbers of the weights', async () => {
    // 200 MB of zeros that take no place on the disk, as the weights of a larger planner.
    const large = { ...(await readArchitecture(folder)), hidden: 4096, intermediate: 4096 };
    let end = 0;
    const header = Object.fromEntries(
      tensorSpecs(large).map(({ name, shape, size }) => {
        const begin = end;
        end += size * 2;
        return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }];
      }),
    );
    await editJson('config.json', { hidden_size: 4096, intermediate_size: 4096 });
    const text = Buffer.from(JSON.stringify(header));
    const prefix = Buffer.alloc(8);
    prefix.writeBigUInt64LE(BigInt(text.length));
    const file = join(folder, 'model.safetensors');
    await writeFile(file, Buffer.concat([prefix, text]));
    await truncate(file, 8 + text.length + end);
    const bytesRead = async () => Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);
    const before = await bytesRead();
    expect(await problems()).toEqual([]);
    expect(end).toBeGreaterThan(200e6);
    expect((await bytesRead()) - before).toBeLessThan(5e6);
  });

  it('has a sentence for any damage to a JSON file (200 drawn at random)', async () => {
    const hostile = [null, -1, 0, 1.5, 1e300, '', 'x', true, [], {}, [null], { a: 1 }, [[]], 2 ** 40, '<|im_end|>'];
    const names = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'];
    const random = new Random('damage to checkpoints');
    for (let i = 0; i < 200; i++) {
      const name = random.pick(names);
      const file = join(folder, name);
      const text = await readFile(file, 'utf8');
      const json: unknown = JSON.parse(text);
      let at = json as Record<string, unknown>;
      let key = random.pick(Object.keys(at));
      while (typeof at[key] === 'object' && Object.keys(at[key] ?? {}).length > 0 && random.int(4) > 0) {
        at = at[key] as Record<string, unknown>;
        key = random.pick(Object.keys(at));
      }
      if (random.int(5) === 0) delete at[key];
      else at[key] = random.pick(hostile);
      await writeFile(file, JSON.stringify(json));
      for (const problem of (await inspectCheckpoint(folder)).problems) {
        expect(problem.file).not.toBe(folder);
        expect(problem.message).not.toMatch(/undefined|TypeError|reading '|not a function|not iterable|object Object/);
      }
      await writeFile(file, text);
    }
  });
});
