/** A checkpoint's config.json: which Qwen3 models this planner can run, and how a fresh one describes itself. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Architecture } from './architecture.ts';
import { CheckpointError } from './checkpoint-error.ts';

/** A JSON object read from a file. */
export type JsonObject = Record<string, unknown>;

/** @throws CheckpointError when the file is absent or no JSON object. */
export async function readJsonObject(file: string, whatToDo: string): Promise<JsonObject> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new CheckpointError(file, code === 'ENOENT' ? `does not exist; ${whatToDo}` : `cannot be read (${code})`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CheckpointError(file, `is not JSON (${(error as Error).message}); ${whatToDo}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CheckpointError(file, `holds no JSON object; ${whatToDo}`);
  }
  return value as JsonObject;
}

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

function parseConfig(file: string, config: JsonObject): Architecture {
  const unsupported = (problem: string) =>
    new CheckpointError(file, `${problem}; the embedded planner cannot run it: serve it with vLLM or SGLang instead`);
  const names = Array.isArray(config.architectures) ? config.architectures.map(String) : [];
  const isQwen3 = names.length > 0 ? names.includes('Qwen3ForCausalLM') : config.model_type === 'qwen3';
  if (!isQwen3) {
    const found = names.join(', ') || (typeof config.model_type === 'string' ? config.model_type : 'none');
    throw new CheckpointError(
      file,
      `the architecture is ${found}; the embedded planner runs Qwen3ForCausalLM only: choose a Qwen3 checkpoint, or serve this one with vLLM or SGLang`,
    );
  }
  const rope = (config.rope_parameters ?? config.rope_scaling ?? {}) as JsonObject;
  const ropeType = rope.rope_type ?? rope.type ?? 'default';
  if (ropeType !== 'default') throw unsupported(`rotary positions are scaled (${String(ropeType)})`);
  if (config.use_sliding_window === true) throw unsupported('use_sliding_window is set');
  if (Array.isArray(config.layer_types) && config.layer_types.some((type) => type !== 'full_attention')) {
    throw unsupported('layer_types has layers other than full_attention');
  }
  if (config.attention_bias === true) throw unsupported('attention_bias is set');
  if (config.hidden_act !== undefined && config.hidden_act !== 'silu') {
    throw unsupported(`hidden_act is ${String(config.hidden_act)}, not silu`);
  }
  if (config.quantization_config !== undefined && config.quantization_config !== null) {
    throw unsupported('the weights are quantised');
  }

  const whole = (key: string, fallback?: number, most = 1e7): number => {
    const value = config[key] ?? fallback;
    if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > most) {
      throw new CheckpointError(file, `${key} is ${JSON.stringify(value)}; it must be an integer of 1 to ${most}`);
    }
    return value as number;
  };
  const positive = (key: string, value: unknown): number => {
    if (typeof value !== 'number' || !(value > 0) || !Number.isFinite(value)) {
      throw new CheckpointError(file, `${key} is ${JSON.stringify(value)}; it must be a positive number`);
    }
    return value;
  };
  // Fallbacks are those of Hugging Face's Qwen3Config.
  const architecture: Architecture = {
    layers: whole('num_hidden_layers', undefined, 1000),
    hidden: whole('hidden_size'),
    intermediate: whole('intermediate_size'),
    heads: whole('num_attention_heads'),
    kvHeads: whole('num_key_value_heads', 32),
    headDim: whole('head_dim', 128),
    vocabulary: whole('vocab_size'),
    context: whole('max_position_embeddings', 32768),
    ropeTheta: positive('rope_theta', config.rope_theta ?? rope.rope_theta ?? 10_000),
    rmsEpsilon: positive('rms_norm_eps', config.rms_norm_eps ?? 1e-6),
    tiedEmbeddings: config.tie_word_embeddings === true,
  };
  if (architecture.heads % architecture.kvHeads !== 0) {
    throw new CheckpointError(
      file,
      `num_attention_heads (${architecture.heads}) is no multiple of num_key_value_heads (${architecture.kvHeads})`,
    );
  }
  if (architecture.headDim % 16 !== 0) {
    throw unsupported(`head_dim is ${architecture.headDim}, no multiple of 16`);
  }
  return architecture;
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
