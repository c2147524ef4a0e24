/**
 * A planner's checkpoint: a Hugging Face folder of a `Qwen3ForCausalLM` (config.json, tokenizer files, and
 * model.safetensors, in one file or in shards with an index).
 */
import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type Architecture, type PlannerWeights, parameterCount, tensorSpecs } from './architecture.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { readArchitecture, readConfig, readJsonObject } from './model-config.ts';
import { type NamedTensor, SafetensorsFile, writeSafetensors } from './safetensors.ts';

export { CheckpointError } from './checkpoint-error.ts';
export { readArchitecture } from './model-config.ts';

export interface Checkpoint {
  folder: string;
  architecture: Architecture;
  weights: PlannerWeights;
  /** Tokens that end a response. */
  endTokenIds: number[];
}

const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
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
/** More parameters than this (4 bytes each) do not fit one array; such a planner belongs on a GPU server anyway. */
const MOST_PARAMETERS = 1_000_000_000;

/**
 * Reads a whole checkpoint, weights converted to float32.
 * @throws CheckpointError with the file at fault and what to do about it.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const information = await stat(folder).catch(() => undefined);
  if (!information?.isDirectory()) {
    throw new CheckpointError(folder, 'is no folder; give the folder of a Qwen3 checkpoint in Hugging Face format');
  }
  const architecture = await readArchitecture(folder);
  const parameters = parameterCount(architecture);
  if (parameters > MOST_PARAMETERS) {
    throw new CheckpointError(
      join(folder, 'config.json'),
      `describes ${(parameters / 1e9).toFixed(1)} billion parameters, more than the embedded planner holds; serve it with vLLM or SGLang and train it with the tinker engine`,
    );
  }
  const endTokenIds = await readEndTokens(folder, architecture);
  const source = await findWeights(folder);
  const flat = new Float32Array(parameters);
  const opened = new Map<string, SafetensorsFile>();
  try {
    for (const spec of tensorSpecs(architecture)) {
      const path = source.fileOf(spec.name);
      let file = opened.get(path);
      if (file === undefined) {
        file = await SafetensorsFile.open(path);
        opened.set(path, file);
      }
      await file.readInto(spec.name, spec.shape, flat.subarray(spec.offset, spec.offset + spec.size));
    }
  } finally {
    for (const file of opened.values()) await file.close();
  }
  return { folder, architecture, weights: { architecture, flat }, endTokenIds };
}

async function findWeights(folder: string): Promise<{ fileOf(tensor: string): string }> {
  const single = join(folder, WEIGHTS);
  if (await exists(single)) return { fileOf: () => single };
  const indexFile = join(folder, INDEX);
  if (!(await exists(indexFile))) {
    const files = await readdir(folder);
    const other = files.find((name) => /\.(bin|pt|pth|gguf|onnx)$/.test(name));
    throw new CheckpointError(
      single,
      other === undefined
        ? `does not exist, and no ${INDEX} either; copy the weights into the folder`
        : `does not exist (there is ${other}); save the model as safetensors (save_pretrained(..., safe_serialization=True))`,
    );
  }
  const map = (await readJsonObject(indexFile, 'copy it again')).weight_map;
  if (typeof map !== 'object' || map === null) throw new CheckpointError(indexFile, 'has no weight_map; copy it again');
  return {
    fileOf(tensor) {
      const name = (map as Record<string, unknown>)[tensor];
      if (typeof name !== 'string') throw new CheckpointError(indexFile, `names no file for the tensor ${tensor}`);
      // A shard lies beside its index: a path that leads elsewhere is no shard.
      if (name !== basename(name) || !name.endsWith('.safetensors')) {
        throw new CheckpointError(indexFile, `${JSON.stringify(name)} is not the name of a safetensors file beside it`);
      }
      return join(folder, name);
    },
  };
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
