/** A checkpoint's config.json: which Qwen3 models this planner can run, and how a fresh one describes itself. */
import { join } from 'node:path';
import type { Architecture } from './architecture.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { type JsonObject, readJsonObject } from './json-file.ts';

/**
 * The architecture a folder's config.json describes.
 * @throws CheckpointError when there is none, it names another architecture, or it asks for what is not supported
 * (scaled rotary positions, sliding windows, attention biases, another activation, quantised weights).
 */
export async function readArchitecture(folder: string): Promise<Architecture> {
  return parseConfig(join(folder, 'config.json'), await readConfig(folder));
}

/** The folder's config.json as it is. */
export async function readConfig(folder: string): Promise<JsonObject> {
  return readJsonObject(
    join(folder, 'config.json'),
    'give the folder of a Qwen3ForCausalLM checkpoint in Hugging Face format (config.json, tokenizer.json, model.safetensors)',
  );
}

/** Reads the fields that matter of a config.json, each checked before it is believed. */
function parseConfig(file: string, config: JsonObject): Architecture {
  refuseOtherArchitectures(file, config);
  const ropeTheta = readRopeTheta(file, config);
  refuseVariants(file, config);

  const whole = (key: string, fallback?: number, most = 1e7): number => {
    const value = config[key] ?? fallback;
    if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > most) {
      throw new CheckpointError(file, `${key} is ${written(value)}; it must be an integer of 1 to ${most}`);
    }
    return value as number;
  };
  const rmsEpsilon = config.rms_norm_eps ?? 1e-6;
  if (typeof rmsEpsilon !== 'number' || !(rmsEpsilon > 0 && rmsEpsilon <= 0.1)) {
    throw new CheckpointError(file, `rms_norm_eps is ${written(rmsEpsilon)}; it must be above 0 and at most 0.1`);
  }
  // Fallbacks are those of Hugging Face's Qwen3Config.
  const architecture: Architecture = {
    layers: whole('num_hidden_layers', undefined, 1000),
    hidden: whole('hidden_size'),
    intermediate: whole('intermediate_size'),
    heads: whole('num_attention_heads', undefined, 4096),
    kvHeads: whole('num_key_value_heads', 32, 4096),
    headDim: whole('head_dim', 128, 4096),
    vocabulary: whole('vocab_size'),
    // Tables of rotary positions are made for all of them.
    context: whole('max_position_embeddings', 32768, 2e6),
    ropeTheta,
    rmsEpsilon,
    tiedEmbeddings: flag(file, config, 'tie_word_embeddings'),
  };
  if (architecture.heads % architecture.kvHeads !== 0) {
    throw new CheckpointError(
      file,
      `num_attention_heads (${architecture.heads}) is no multiple of num_key_value_heads (${architecture.kvHeads}); copy the file from the checkpoint again`,
    );
  }
  if (architecture.headDim % 16 !== 0) {
    throw unsupported(file, `head_dim is ${architecture.headDim}, no multiple of 16`);
  }
  if (Array.isArray(config.layer_types) && config.layer_types.length !== architecture.layers) {
    throw new CheckpointError(
      file,
      `layer_types lists ${config.layer_types.length} layers, num_hidden_layers is ${architecture.layers}; copy the file from the checkpoint again`,
    );
  }
  return architecture;
}

function refuseOtherArchitectures(file: string, config: JsonObject): void {
  const names = Array.isArray(config.architectures)
    ? config.architectures.map((name) => (typeof name === 'string' ? name : written(name)))
    : [];
  const type = typeof config.model_type === 'string' ? config.model_type : undefined;
  // Both are looked at: a mixture of experts, say, is told apart by model_type where `architectures` was edited.
  const isQwen3 =
    names.length > 0 ? names.includes('Qwen3ForCausalLM') && (type ?? 'qwen3') === 'qwen3' : type === 'qwen3';
  if (isQwen3) return;
  const found = [names.join(', '), names.includes('Qwen3ForCausalLM') ? `model_type ${type}` : names.length ? '' : type]
    .filter((word) => word)
    .join(' with ');
  throw new CheckpointError(
    file,
    `the architecture is ${found || 'not named'}; the embedded planner runs Qwen3ForCausalLM only: choose a Qwen3 checkpoint, or serve this one with vLLM or SGLang`,
  );
}

/** Variants of the architecture that compute something else. */
function refuseVariants(file: string, config: JsonObject): void {
  if (flag(file, config, 'use_sliding_window')) throw unsupported(file, 'use_sliding_window is set');
  const layerTypes = config.layer_types ?? undefined;
  if (layerTypes !== undefined && !Array.isArray(layerTypes)) {
    throw new CheckpointError(file, `layer_types is ${written(layerTypes)}; it must be a list`);
  }
  if (layerTypes?.some((type) => type !== 'full_attention')) {
    throw unsupported(file, 'layer_types has layers other than full_attention');
  }
  if (flag(file, config, 'attention_bias')) throw unsupported(file, 'attention_bias is set');
  if (config.hidden_act !== undefined && config.hidden_act !== 'silu') {
    throw unsupported(file, `hidden_act is ${written(config.hidden_act)}, not silu`);
  }
  if (config.quantization_config !== undefined && config.quantization_config !== null) {
    throw unsupported(file, 'the weights are quantised');
  }
}

/** The base of the rotary positions, which must be plain ones. Old configs have `rope_scaling`, newer `rope_parameters`. */
function readRopeTheta(file: string, config: JsonObject): number {
  let theta = config.rope_theta;
  for (const key of ['rope_scaling', 'rope_parameters']) {
    const value = config[key] ?? {};
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw unsupported(file, `${key} is ${written(value)}, so rotary positions are scaled in some way`);
    }
    const rope = value as JsonObject;
    const kind = rope.rope_type ?? rope.type;
    if (kind !== undefined && kind !== 'default')
      throw unsupported(file, `${key}: positions are scaled (${written(kind)})`);
    const plain = kind === 'default' ? Object.keys(rope) : ['rope_type', 'type', 'rope_theta'];
    const scaled = Object.keys(rope).find((name) => !plain.includes(name) && rope[name] !== null);
    // `factor` with no type, parameters for each kind of layer: none of them is plain rotary positions.
    if (scaled !== undefined) throw unsupported(file, `${key} has ${written(scaled)} and no rope_type`);
    refusePartialRotation(file, rope);
    theta ??= rope.rope_theta;
  }
  refusePartialRotation(file, config);
  theta ??= 10_000;
  if (typeof theta !== 'number' || !(theta >= 1 && theta <= 1e12)) {
    throw new CheckpointError(file, `rope_theta is ${written(theta)}; it must be a number of 1 to 1e12`);
  }
  return theta;
}

function refusePartialRotation(file: string, values: JsonObject): void {
  const factor = values.partial_rotary_factor ?? 1;
  if (factor !== 1) throw unsupported(file, `partial_rotary_factor is ${written(factor)}`);
}

/** A yes or no, no by default. Words such as "false" are refused: Python would take them for yes. */
function flag(file: string, config: JsonObject, key: string): boolean {
  const value = config[key] ?? false;
  if (typeof value !== 'boolean') {
    throw new CheckpointError(file, `${key} is ${written(value)}; it must be true or false`);
  }
  return value;
}

function unsupported(file: string, problem: string): CheckpointError {
  return new CheckpointError(
    file,
    `${problem}; the embedded planner cannot run it: serve it with vLLM or SGLang instead`,
  );
}

/** A value as it stands in the file, shortened. */
function written(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** config.json of a planner with this architecture and float32 weights, as transformers reads it. */
export function configOf(architecture: Architecture, endTokenId: number, padTokenId: number): JsonObject {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: null,
    eos_token_id: endTokenId,
    pad_token_id: padTokenId,
    head_dim: architecture.headDim,
    hidden_act: 'silu',
    hidden_size: architecture.hidden,
    initializer_range: 0.02,
    intermediate_size: architecture.intermediate,
    max_position_embeddings: architecture.context,
    num_attention_heads: architecture.heads,
    num_hidden_layers: architecture.layers,
    num_key_value_heads: architecture.kvHeads,
    rms_norm_eps: architecture.rmsEpsilon,
    rope_scaling: null,
    rope_theta: architecture.ropeTheta,
    sliding_window: null,
    use_sliding_window: false,
    tie_word_embeddings: architecture.tiedEmbeddings,
    torch_dtype: 'float32',
    use_cache: true,
    vocab_size: architecture.vocabulary,
  };
}
