/**
 * A planner's checkpoint: a Hugging Face folder of a `Qwen3ForCausalLM` (config.json, tokenizer files, and
 * model.safetensors, in one file or in shards with an index).
 */
import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Architecture, type PlannerWeights, parameterCount, tensorSpecs } from './architecture.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { readJsonObject } from './json-file.ts';
import { readArchitecture, readConfig } from './model-config.ts';
import { type NamedTensor, writeSafetensors } from './safetensors.ts';
import { eachTensor, INDEX, WEIGHTS } from './weight-files.ts';

export { CheckpointError } from './checkpoint-error.ts';
export { readArchitecture } from './model-config.ts';

export interface Checkpoint {
  folder: string;
  architecture: Architecture;
  weights: PlannerWeights;
  /** Tokens that end a response. */
  endTokenIds: number[];
}

/** Files that travel with the weights from one checkpoint to the next. */
const COMPANIONS = [
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'chat_template.jinja',
  'chat_template.json',
];

/** What a checkpoint says of itself, without its weights. */
export interface CheckpointDescription {
  architecture: Architecture;
  /** Tokens that end a response. */
  endTokenIds: number[];
}
/** More parameters than this (4 bytes each) do not fit one array; such a planner belongs on a GPU server anyway. */
const MOST_PARAMETERS = 1_000_000_000;

/**
 * Reads config.json and generation_config.json.
 * @throws CheckpointError when there is no such folder, or it describes no planner that can be run here.
 */
export async function readDescription(folder: string): Promise<CheckpointDescription> {
  await requireFolder(folder);
  const architecture = await readArchitecture(folder);
  const parameters = parameterCount(architecture);
  if (parameters > MOST_PARAMETERS) {
    throw new CheckpointError(
      join(folder, 'config.json'),
      `describes ${(parameters / 1e9).toPrecision(2)} billion parameters, more than the embedded planner holds; serve it with vLLM or SGLang and train it with the tinker engine`,
    );
  }
  return { architecture, endTokenIds: await readEndTokens(folder, architecture) };
}

async function requireFolder(folder: string): Promise<void> {
  let problem: string | undefined;
  try {
    if (!(await stat(folder)).isDirectory()) problem = 'is no folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    problem = code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be looked into (${code})`;
  }
  if (problem === undefined) return;
  throw new CheckpointError(folder, `${problem}; give the folder of a Qwen3 checkpoint in Hugging Face format`);
}

/**
 * Reads a whole checkpoint, weights converted to float32.
 * @throws CheckpointError with the file at fault and what to do about it.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const { architecture, endTokenIds } = await readDescription(folder);
  const flat = new Float32Array(parameterCount(architecture));
  await eachTensor(folder, architecture, async (file, spec) => {
    await file.readInto(spec.name, spec.shape, flat.subarray(spec.offset, spec.offset + spec.size));
  });
  return { folder, architecture, weights: { architecture, flat }, endTokenIds };
}

/**
 * Writes a checkpoint folder: float32 weights, and configuration, tokenizer and template copied from `from`. Each file
 * is replaced by a rename, the weights last. Files in `folder` that belong to no checkpoint stay as they are.
 * @throws CheckpointError when `from` has another architecture than the weights.
 */
export async function writeCheckpoint(folder: string, weights: PlannerWeights, from: string): Promise<void> {
  const config = await readConfig(from);
  const described = await readArchitecture(from);
  for (const key of Object.keys(described) as (keyof Architecture)[]) {
    if (described[key] !== weights.architecture[key]) {
      throw new CheckpointError(
        join(from, 'config.json'),
        `${key} is ${described[key]} there and ${weights.architecture[key]} in the weights to be written`,
      );
    }
  }
  await mkdir(folder, { recursive: true });
  delete config.dtype;
  await replaceFile(join(folder, 'config.json'), JSON.stringify({ ...config, torch_dtype: 'float32' }, null, 2) + '\n');
  if (resolve(from) !== resolve(folder)) {
    for (const name of COMPANIONS) {
      const source = join(from, name);
      if (!(await exists(source))) continue;
      const temporary = join(folder, `${name}.partial-${process.pid}`);
      await copyFile(source, temporary);
      await rename(temporary, join(folder, name));
    }
  }
  await writeWeights(folder, weights);
}

/** Writes model.safetensors alone, and removes shards of an earlier one. */
export async function writeWeights(folder: string, weights: PlannerWeights): Promise<void> {
  const tensors: NamedTensor[] = tensorSpecs(weights.architecture).map(({ name, shape, offset, size }) => ({
    name,
    shape,
    data: weights.flat.subarray(offset, offset + size),
  }));
  await writeSafetensors(join(folder, WEIGHTS), tensors);
  for (const name of await readdir(folder)) {
    if (name === INDEX || /^model-\d+-of-\d+\.safetensors$/.test(name)) await rm(join(folder, name));
  }
}

/** Writes a text file through a temporary one, so that a reader never sees half of it. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.partial-${process.pid}`;
  await writeFile(temporary, text);
  await rename(temporary, file);
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

/** generation_config.json rules over config.json, as in transformers. */
async function readEndTokens(folder: string, architecture: Architecture): Promise<number[]> {
  const generation = join(folder, 'generation_config.json');
  const config = await readConfig(folder);
  let file = join(folder, 'config.json');
  let value = config.eos_token_id;
  if (await exists(generation)) {
    const own = (await readJsonObject(generation, 'copy it again')).eos_token_id;
    if (own !== undefined && own !== null) {
      value = own;
      file = generation;
    }
  }
  const ids = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  if (ids.length === 0 || !ids.every((id) => Number.isSafeInteger(id) && id >= 0 && id < architecture.vocabulary)) {
    throw new CheckpointError(
      file,
      `eos_token_id is ${JSON.stringify(value)}; it must be one or more token ids below vocab_size (${architecture.vocabulary}), or a response would never end`,
    );
  }
  return ids as number[];
}
