import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../protocol/random.ts';
import { type Architecture, parameterCount, tensorSpecs } from '../../../../trainer-daemon/planner/architecture.ts';
import {
  CheckpointError,
  readArchitecture,
  readCheckpoint,
  writeCheckpoint,
} from '../../../../trainer-daemon/planner/checkpoint.ts';
import { configOf } from '../../../../trainer-daemon/planner/model-config.ts';
import { halfToNumber } from '../../../../trainer-daemon/planner/safetensors.ts';

const tied: Architecture = {
  layers: 2,
  hidden: 32,
  intermediate: 48,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  vocabulary: 40,
  context: 64,
  ropeTheta: 1_000_000,
  rmsEpsilon: 1e-6,
  tiedEmbeddings: true,
};
const untied: Architecture = { ...tied, tiedEmbeddings: false };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoint-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Numbers that bfloat16 and float16 hold exactly: k/64 with |k| <= 127. */
function exactWeights(architecture: Architecture): Float32Array {
  const random = new Random('exact weights');
  return Float32Array.from({ length: parameterCount(architecture) }, () => (random.int(255) - 127) / 64);
}

/** float16 bits of a number that float16 holds exactly, by search over all bit patterns. */
const halfBits = new Map<number, number>();
for (let bits = 0; bits < 0x10000; bits++) {
  const value = halfToNumber(bits);
  if (!halfBits.has(value)) halfBits.set(value, bits);
}

type Dtype = 'F32' | 'F16' | 'BF16';

function encode(values: Float32Array, dtype: Dtype): Uint8Array {
  if (dtype === 'F32') return new Uint8Array(values.slice().buffer);
  const bits = new Uint32Array(values.slice().buffer);
  const halves = Uint16Array.from(values, (value, i) => (dtype === 'BF16' ? bits[i] >>> 16 : halfBits.get(value)!));
  return new Uint8Array(halves.buffer);
}

/** A safetensors file laid out by hand, tensors in the given order. */
function safetensors(tensors: { name: string; dtype: string; shape: number[]; bytes: Uint8Array }[]): Uint8Array {
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...tensors.map((tensor) => tensor.bytes)]);
}

async function writeFixture(architecture: Architecture, dtype: Dtype, shards = 1): Promise<Float32Array> {
  const flat = exactWeights(architecture);
  await writeFile(join(folder, 'config.json'), JSON.stringify(configOf(architecture, 2, 0)));
  const tensors = tensorSpecs(architecture)
    .map(({ name, shape, offset, size }) => ({
      name,
      dtype,
      shape,
      bytes: encode(flat.subarray(offset, offset + size), dtype),
    }))
    .reverse();
  if (shards === 1) {
    await writeFile(join(folder, 'model.safetensors'), safetensors(tensors));
    return flat;
  }
  const weightMap: Record<string, string> = {};
  for (let shard = 0; shard < shards; shard++) {
    const name = `model-0000${shard + 1}-of-0000${shards}.safetensors`;
    const part = tensors.filter((_, i) => i % shards === shard);
    for (const tensor of part) weightMap[tensor.name] = name;
    await writeFile(join(folder, name), safetensors(part));
  }
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
  return flat;
}

async function editConfig(change: Record<string, unknown>): Promise<void> {
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...configOf(tied, 2, 0), ...change }));
}

async function refusal(): Promise<CheckpointError> {
  const error = await readCheckpoint(folder).catch((e) => e);
  expect(error).toBeInstanceOf(CheckpointError);
  return error;
}

describe('readCheckpoint', () => {
  for (const dtype of ['F32', 'F16', 'BF16'] as const) {
    for (const shards of [1, 3]) {
      it(`reads ${dtype} in ${shards} file(s)`, async () => {
        const flat = await writeFixture(untied, dtype, shards);
        const checkpoint = await readCheckpoint(folder);
        expect(checkpoint.architecture).toEqual(untied);
        expect(checkpoint.endTokenIds).toEqual([2]);
        expect(checkpoint.weights.flat).toEqual(flat);
      });
    }
  }

  it('takes a tied checkpoint, ignoring a stored output layer, and end tokens from generation_config.json', async () => {
    const flat = await writeFixture(tied, 'F32');
    await writeFile(join(folder, 'generation_config.json'), JSON.stringify({ eos_token_id: [2, 7] }));
    const checkpoint = await readCheckpoint(folder);
    expect(checkpoint.weights.flat).toEqual(flat);
    expect(checkpoint.endTokenIds).toEqual([2, 7]);
  });

  it('understands rope_parameters of newer configurations', async () => {
    await writeFixture(tied, 'F32');
    await editConfig({ rope_theta: undefined, rope_parameters: { rope_type: 'default', rope_theta: 5000 } });
    expect((await readArchitecture(folder)).ropeTheta).toBe(5000);
  });

  it.each([
    [{ architectures: ['LlamaForCausalLM'] }, 'LlamaForCausalLM'],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 } }, 'yarn'],
    [{ use_sliding_window: true }, 'use_sliding_window'],
    [{ layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types'],
    [{ model_type: 'qwen3_moe' }, 'Qwen3ForCausalLM with model_type qwen3_moe'],
    [{ architectures: [], model_type: 'llama' }, 'the architecture is llama'],
    [{ architectures: undefined, model_type: undefined }, 'the architecture is not named'],
    [{ rope_scaling: 'linear' }, 'rope_scaling is "linear"'],
    [{ rope_scaling: { factor: 2 } }, 'rope_scaling has "factor" and no rope_type'],
    [{ rope_parameters: { rope_type: 'default' }, rope_scaling: { type: 'dynamic', factor: 2 } }, 'dynamic'],
    [{ rope_parameters: { full_attention: { rope_type: 'default' } } }, '"full_attention"'],
    [{ partial_rotary_factor: 0.5 }, 'partial_rotary_factor is 0.5'],
    [{ rope_theta: -1 }, 'rope_theta is -1'],
    [{ rope_theta: '1e4' }, 'rope_theta is "1e4"'],
    [{ rms_norm_eps: 5 }, 'rms_norm_eps is 5'],
    [{ rms_norm_eps: 0 }, 'rms_norm_eps is 0'],
    [{ use_sliding_window: 'yes' }, 'it must be true or false'],
    [{ tie_word_embeddings: 'false' }, 'it must be true or false'],
    [{ layer_types: 'full_attention' }, 'layer_types is "full_attention"'],
    [{ layer_types: ['full_attention'] }, 'layer_types lists 1 layers'],
    [{ max_position_embeddings: 1e9 }, 'max_position_embeddings is 1000000000'],
    [{ architectures: [{ a: 1 }] }, 'the architecture is {"a":1}'],
    [{ hidden_size: 1.5 }, 'hidden_size is 1.5'],
    [{ hidden_size: 1e300 }, 'hidden_size is 1e+300'],
    [{ hidden_size: 10_000_000, vocab_size: 10_000_000 }, 'billion parameters'],
    [{ num_attention_heads: [4] }, 'num_attention_heads is [4]'],
    [{ num_attention_heads: 5 }, 'is no multiple of num_key_value_heads'],
    [{ eos_token_id: [2, -1] }, 'eos_token_id is [2,-1]'],
    [{ num_hidden_layers: 1 }, 'holds model.layers.1.'],
    [{ attention_bias: true }, 'attention_bias'],
    [{ quantization_config: { quant_method: 'fp8' } }, 'quantised'],
    [{ hidden_act: 'gelu' }, 'hidden_act'],
    [{ head_dim: 24 }, 'multiple of 16'],
    [{ num_key_value_heads: 3 }, 'num_key_value_heads'],
    [{ hidden_size: -4 }, 'hidden_size'],
    [{ vocab_size: 'many' }, 'vocab_size'],
    [{ eos_token_id: null }, 'eos_token_id'],
    [{ eos_token_id: 4000 }, 'eos_token_id'],
    [{ num_hidden_layers: 1_000_000 }, 'num_hidden_layers'],
    [{ intermediate_size: 9_000_000 }, 'billion parameters'],
    [{ hidden_size: 64 }, 'do not belong together'],
    [{ num_hidden_layers: 3 }, 'model.layers.2.input_layernorm.weight is missing'],
  ])('refuses %j', async (change, words) => {
    await writeFixture(tied, 'BF16');
    await editConfig(change);
    expect((await refusal()).message).toContain(words);
  });

  it('points at the line where config.json stops being JSON', async () => {
    const file = join(folder, 'config.json');
    await writeFile(file, '{\n  "rms_norm_eps": NaN\n}');
    expect((await refusal()).message).toContain(`${file}:2: is not JSON (NaN is no number JSON knows)`);
    await writeFile(file, '{\n  "hidden_size": 64,\n');
    expect((await refusal()).message).toContain('is not JSON (it ends too early); copy it from the checkpoint again');
    await writeFile(file, '[]');
    expect((await refusal()).message).toContain('holds no JSON object');
  });

  it('never reads what is no regular file', async () => {
    const config = join(folder, 'config.json');
    await mkdir(config);
    expect((await refusal()).message).toContain('config.json: is no file');
    await rm(config, { recursive: true });
    execFileSync('mkfifo', [config]);
    expect((await refusal()).message).toContain('config.json: is no file');
    await rm(config);
    await writeFixture(tied, 'F32');
    await rm(join(folder, 'model.safetensors'));
    execFileSync('mkfifo', [join(folder, 'model.safetensors')]);
    expect((await refusal()).message).toContain('model.safetensors: is no file');
  });

  it('says which file is missing', async () => {
    expect((await refusal()).file).toBe(join(folder, 'config.json'));
    await editConfig({});
    expect((await refusal()).message).toContain('copy the weights');
    await writeFile(join(folder, 'pytorch_model.bin'), 'x');
    expect((await refusal()).message).toContain('save_pretrained');
    await rm(folder, { recursive: true });
    expect((await refusal()).message).toBe(
      `${folder}: does not exist; give the folder of a Qwen3 checkpoint in Hugging Face format`,
    );
    await writeFile(folder, 'x');
    expect((await refusal()).message).toContain('is no folder');
  });

  it('refuses a file cut short anywhere', async () => {
    await writeFixture(tied, 'F16');
    const file = join(folder, 'model.safetensors');
    const whole = await readFile(file);
    for (const size of [0, 5, 200, whole.length - 1]) {
      await writeFile(file, whole);
      await truncate(file, size);
      expect((await refusal()).message).toContain('cut short');
    }
  });

  it.each([
    ['F32', Number.NaN],
    ['F32', Number.NEGATIVE_INFINITY],
    ['BF16', Number.POSITIVE_INFINITY],
  ] as const)('refuses %s weights with %d among them', async (dtype, value) => {
    await writeFixture(tied, dtype);
    const file = join(folder, 'model.safetensors');
    const bytes = await readFile(file);
    const last = encode(Float32Array.of(value), dtype);
    bytes.set(last, bytes.length - last.length);
    await writeFile(file, bytes);
    expect((await refusal()).message).toContain('model.embed_tokens.weight holds numbers that are infinite or not');
  });

  it('refuses hostile headers', async () => {
    await writeFixture(tied, 'F32');
    const file = join(folder, 'model.safetensors');
    const embed = 'model.embed_tokens.weight';
    const withHeader = async (header: string, length = BigInt(header.length)) => {
      const prefix = Buffer.alloc(8);
      prefix.writeBigUInt64LE(length);
      await writeFile(file, Buffer.concat([prefix, Buffer.from(header), Buffer.alloc(40 * 32 * 4)]));
      return (await refusal()).message;
    };
    expect(await withHeader('{}', 2n ** 63n)).toContain('limit');
    expect(await withHeader('not json')).toContain('not JSON');
    expect(await withHeader('[]')).toContain('no object');
    const entry = (value: unknown) => withHeader(JSON.stringify({ [embed]: value }));
    expect(await entry(null)).toContain('dtype and shape');
    expect(await entry({ dtype: 'F32', shape: [-1, 2], data_offsets: [0, 8] })).toContain('dtype and shape');
    expect(await entry({ dtype: 'F32', shape: [40, 32], data_offsets: [8, 0] })).toContain('data_offsets');
    expect(await entry({ dtype: 'F32', shape: [40, 32], data_offsets: [0, 8] })).toContain('needs 5120');
    expect(await entry({ dtype: 'F32', shape: [40, 32], data_offsets: [1e9, 1e9 + 5120] })).toContain('cut short');
    expect(await entry({ dtype: 'I64', shape: [40, 32], data_offsets: [0, 5120] })).toContain('I64');
  });

  it('never follows an index out of its folder', async () => {
    await writeFixture(tied, 'F32', 2);
    const index = join(folder, 'model.safetensors.index.json');
    const map = JSON.parse(await readFile(index, 'utf8')).weight_map;
    map['model.norm.weight'] = '../model-00001-of-00002.safetensors';
    await writeFile(index, JSON.stringify({ weight_map: map }));
    expect((await refusal()).message).toContain('beside it');
  });
});

describe('writeCheckpoint', () => {
  it('writes what reads back equal, with its companions, and an independent reader agrees', async () => {
    const from = join(folder, 'from');
    const to = join(folder, 'to');
    await mkdir(from);
    await writeFile(join(from, 'config.json'), JSON.stringify({ ...configOf(untied, 2, 0), torch_dtype: 'bfloat16' }));
    await writeFile(join(from, 'tokenizer.json'), '{"a": 1}');
    await writeFile(join(from, 'chat_template.jinja'), 'x');
    const flat = exactWeights(untied);
    await writeCheckpoint(to, { architecture: untied, flat }, from);
    const again = await readCheckpoint(to);
    expect(again.weights.flat).toEqual(flat);
    expect((await readdir(to)).sort()).toEqual([
      'chat_template.jinja',
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ]);
    expect(JSON.parse(await readFile(join(to, 'config.json'), 'utf8')).torch_dtype).toBe('float32');

    const reader = `
import json, struct, sys
raw = open(sys.argv[1], 'rb').read()
n = struct.unpack('<Q', raw[:8])[0]
assert n % 8 == 0
header = json.loads(raw[8:8 + n])
assert header.pop('__metadata__') == {'format': 'pt'}
ends = sorted(v['data_offsets'] for v in header.values())
assert ends[0][0] == 0 and all(a[1] == b[0] for a, b in zip(ends, ends[1:])) and ends[-1][1] == len(raw) - 8 - n
out = {}
for name, v in header.items():
    a, b = v['data_offsets']
    values = struct.unpack('<%df' % ((b - a) // 4), raw[8 + n + a:8 + n + b])
    out[name] = [v['dtype'], v['shape'], sum(values), values[-1]]
print(json.dumps(out))
`;
    const seen = JSON.parse(
      execFileSync('python3', ['-c', reader, join(to, 'model.safetensors')], { encoding: 'utf8' }),
    );
    const specs = tensorSpecs(untied);
    expect(Object.keys(seen).sort()).toEqual(specs.map((spec) => spec.name).sort());
    for (const { name, shape, offset, size } of specs) {
      const values = flat.subarray(offset, offset + size);
      const total = values.reduce((a, b) => a + b, 0);
      expect(seen[name]).toEqual(['F32', shape, total, values[values.length - 1]]);
    }
  });

  it('replaces shards, leaves foreign files, and refuses weights of another architecture', async () => {
    await writeFixture(tied, 'F32', 2);
    await writeFile(join(folder, 'policy.json'), '{}');
    const { weights } = await readCheckpoint(folder);
    weights.flat[0] = 5;
    await writeCheckpoint(folder, weights, folder);
    expect((await readdir(folder)).sort()).toEqual(['config.json', 'model.safetensors', 'policy.json']);
    expect((await readCheckpoint(folder)).weights.flat[0]).toBe(5);
    await expect(writeCheckpoint(folder, { ...weights, architecture: untied }, folder)).rejects.toThrow(
      'tiedEmbeddings is true there',
    );
  });
});
