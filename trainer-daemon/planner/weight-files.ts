/** The files that hold a checkpoint's weights: model.safetensors, or shards that an index names. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Architecture, type TensorSpec, tensorSpecs } from './architecture.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { readJsonObject } from './json-file.ts';
import { SafetensorsFile } from './safetensors.ts';

export const WEIGHTS = 'model.safetensors';
export const INDEX = 'model.safetensors.index.json';

/**
 * Checks headers, names, shapes and sizes of a checkpoint's weights without reading the numbers.
 * @throws CheckpointError with the file at fault.
 */
export async function checkWeights(folder: string, architecture: Architecture): Promise<void> {
  await eachTensor(folder, architecture, (file, { name, shape }) => {
    file.find(name, shape);
  });
}

/**
 * Visits every tensor of an architecture in order, with the open file that should hold it.
 * @throws CheckpointError when a file is missing, damaged, or holds tensors that the architecture has no use for.
 */
export async function eachTensor(
  folder: string,
  architecture: Architecture,
  visit: (file: SafetensorsFile, spec: TensorSpec) => void | Promise<void>,
): Promise<void> {
  const source = await findWeights(folder);
  const specs = tensorSpecs(architecture);
  const known = new Set(specs.map((spec) => spec.name));
  const opened = new Map<string, SafetensorsFile>();
  try {
    for (const spec of specs) {
      const path = source.fileOf(spec.name);
      let file = opened.get(path);
      if (file === undefined) {
        file = await SafetensorsFile.open(path);
        opened.set(path, file);
        refuseForeignTensors(file, known);
      }
      await visit(file, spec);
    }
  } finally {
    for (const file of opened.values()) await file.close();
  }
}

/** Further layers or biases belong to a larger model: run without them it would compute something else. */
function refuseForeignTensors(file: SafetensorsFile, known: Set<string>): void {
  for (const name of file.tensors.keys()) {
    if (known.has(name) || !name.startsWith('model.layers.') || name.endsWith('.rotary_emb.inv_freq')) continue;
    throw new CheckpointError(
      file.file,
      `holds ${name}, which the model that config.json describes does not have: the two files do not belong together`,
    );
  }
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
      const name = Object.hasOwn(map, tensor) ? (map as Record<string, unknown>)[tensor] : undefined;
      if (typeof name !== 'string') throw new CheckpointError(indexFile, `names no file for the tensor ${tensor}`);
      // A shard lies beside its index: a path that leads elsewhere is no shard.
      if (name !== basename(name) || !name.endsWith('.safetensors')) {
        throw new CheckpointError(indexFile, `${JSON.stringify(name)} is not the name of a safetensors file beside it`);
      }
      return join(folder, name);
    },
  };
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
