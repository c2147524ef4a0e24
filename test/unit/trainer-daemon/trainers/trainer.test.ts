/** The trainer as the run uses it: checkpoints and optimizer states on disk, a worker thread, bad input. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../trainer-daemon/bundles.ts';
import type { Architecture } from '../../../../trainer-daemon/planner/architecture.ts';
import { readCheckpoint, writeWeights } from '../../../../trainer-daemon/planner/checkpoint.ts';
import { type Trainer, TrainerError, type TrainerOptions } from '../../../../trainer-daemon/trainers/contract.ts';
import { createTrainer } from '../../../../trainer-daemon/trainers/index.ts';
import { createOnnxTrainer } from '../../../../trainer-daemon/trainers/onnx/index.ts';
import { OPTIMIZER_FILE } from '../../../../trainer-daemon/trainers/onnx/optimizer-files.ts';
import { startTrainerWorker } from '../../../../trainer-daemon/trainers/onnx/worker-client.ts';
import { golden, largestDifference, worstTensor } from './golden.ts';

const g = golden('tied');
let folder: string;
let checkpoint: string;
let workerFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trainer-'));
  checkpoint = join(folder, 'checkpoint');
  await writeGoldenCheckpoint(checkpoint, g.architecture);
  // The worker is bundled here, so that this test always runs the present source. Its packages are found from dist/.
  workerFile = join(packageRoot(), 'dist', `trainer-worker-test-${process.pid}.mjs`);
  await build({
    entryPoints: [join(packageRoot(), 'trainer-daemon/trainers/onnx/worker.ts')],
    outfile: workerFile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['onnxruntime-node'],
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await rm(workerFile, { force: true });
});

async function writeGoldenCheckpoint(path: string, a: Architecture) {
  await mkdir(path, { recursive: true });
  const config = {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    num_hidden_layers: a.layers,
    hidden_size: a.hidden,
    intermediate_size: a.intermediate,
    num_attention_heads: a.heads,
    num_key_value_heads: a.kvHeads,
    head_dim: a.headDim,
    vocab_size: a.vocabulary,
    max_position_embeddings: a.context,
    rope_theta: a.ropeTheta,
    rms_norm_eps: a.rmsEpsilon,
    tie_word_embeddings: a.tiedEmbeddings,
    hidden_act: 'silu',
    eos_token_id: 0,
  };
  await writeFile(join(path, 'config.json'), JSON.stringify(config));
  await writeFile(join(path, 'tokenizer.json'), '{}');
  await writeWeights(path, g.weights());
}

const options = (more: Partial<TrainerOptions> = {}): TrainerOptions => ({
  checkpoint,
  device: 'cpu',
  threads: 2,
  ...more,
});

async function opened<T>(more: Partial<TrainerOptions>, use: (trainer: Trainer) => Promise<T>): Promise<T> {
  const trainer = await createOnnxTrainer({ ...options(more), inProcess: true });
  try {
    return await use(trainer);
  } finally {
    await trainer.close();
  }
}

const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(TrainerError);
  return (error as TrainerError).message;
};

describe('resuming', () => {
  it('goes on with the same bits from an exported checkpoint and optimizer state', async () => {
    const through = join(folder, 'through');
    await opened({}, async (trainer) => {
      for (let step = 0; step < 3; step++) await trainer.sftStep(g.sftItems, g.optimizer);
      expect(trainer.stepsTaken).toBe(3);
      await trainer.exportCheckpoint(through);
    });
    const half = join(folder, 'half');
    const state = join(folder, 'half-optimizer');
    await opened({}, async (trainer) => {
      for (let step = 0; step < 2; step++) await trainer.sftStep(g.sftItems, g.optimizer);
      await trainer.exportCheckpoint(half);
      await trainer.saveOptimizer(state);
    });
    const resumed = join(folder, 'resumed');
    await opened({ checkpoint: half, optimizer: state }, async (trainer) => {
      expect(trainer.stepsTaken).toBe(2);
      await trainer.sftStep(g.sftItems, g.optimizer);
      await trainer.exportCheckpoint(resumed);
    });
    const [a, b] = await Promise.all([readCheckpoint(through), readCheckpoint(resumed)]);
    expect(Buffer.from(a.weights.flat.buffer).equals(Buffer.from(b.weights.flat.buffer))).toBe(true);
    expect(await readFile(join(resumed, 'tokenizer.json'), 'utf8')).toBe('{}');
    // Nothing half written is left.
    expect(await readdir(state)).toEqual([OPTIMIZER_FILE]);
  });
});

describe('bad files', () => {
  it('names the file at fault', async () => {
    expect(await refusal(createOnnxTrainer(options({ checkpoint: join(folder, 'absent') })))).toContain('absent');
    const absent = opened({ optimizer: join(folder, 'no-state') }, async () => {});
    expect(await refusal(absent)).toContain(OPTIMIZER_FILE);

    const cut = join(folder, 'cut-optimizer');
    await opened({}, (trainer) => trainer.saveOptimizer(cut));
    await truncate(join(cut, OPTIMIZER_FILE), 5000);
    expect(await refusal(opened({ optimizer: cut }, async () => {}))).toMatch(/optimizer\.safetensors.*cut short/);
  });

  it('refuses the optimizer state of another planner', async () => {
    const other = join(folder, 'other');
    await writeGoldenCheckpoint(other, g.architecture);
    const state = join(folder, 'other-optimizer');
    await opened({ checkpoint: other }, (trainer) => trainer.saveOptimizer(state));
    const untied = golden('untied');
    const larger = join(folder, 'larger');
    await writeGoldenCheckpoint(larger, untied.architecture);
    await writeWeights(larger, untied.weights());
    const message = await refusal(opened({ checkpoint: larger, optimizer: state }, async () => {}));
    expect(message).toContain('lm_head.weight is missing');
  });
});

describe('bad input', () => {
  it('says which item and why, and leaves the weights as they are', async () => {
    await opened({}, async (trainer) => {
      const before = await trainer.score(g.sftItems);
      const step = (item: { promptTokenIds: number[]; responseTokenIds: number[] }) =>
        refusal(trainer.sftStep([g.sftItems[0], item], g.optimizer));
      expect(await step({ promptTokenIds: [], responseTokenIds: [1] })).toMatch(/item 1: the prompt is empty/);
      expect(await step({ promptTokenIds: [1], responseTokenIds: [] })).toMatch(/item 1: the response is empty/);
      expect(await step({ promptTokenIds: [1], responseTokenIds: [3, 80] })).toMatch(
        /item 1: response token 1 is 80.*vocabulary of 80/,
      );
      const long = { promptTokenIds: new Array<number>(638).fill(1), responseTokenIds: [1, 2, 3] };
      expect(await step(long)).toMatch(/item 1: 641 tokens.*context is 640/);
      expect(await refusal(trainer.sftStep([], g.optimizer))).toMatch(/empty/);
      expect(await refusal(trainer.sftStep(g.sftItems, { ...g.optimizer, clipNorm: 0 }))).toMatch(/clipNorm is 0/);
      expect(await refusal(trainer.sftStep(g.sftItems, g.optimizer, -1))).toMatch(/promptLossWeight is -1/);

      const [item] = g.rlItems;
      const rl = (change: object) => refusal(trainer.rlStep([{ ...item, ...change }], g.rlOptions, g.optimizer));
      expect(await rl({ oldLogprobs: [0] })).toMatch(/item 0: 1 oldLogprobs for 9 response tokens/);
      const broken = [...Array.from(item.behaviourLogprobs)];
      broken[2] = Number.NaN;
      expect(await rl({ behaviourLogprobs: broken })).toMatch(/behaviourLogprobs\[2\] is NaN/);
      expect(await rl({ advantage: 0 })).toMatch(/nonzero weight/);
      expect(trainer.stepsTaken).toBe(0);
      expect(await trainer.score(g.sftItems)).toEqual(before);
    });
  });

  it('refuses a freeze prefix that matches nothing, or everything', async () => {
    expect(await refusal(opened({ freeze: ['modle.embed'] }, async () => {}))).toMatch(/no tensor begins with "modle/);
    expect(await refusal(opened({ freeze: ['model'] }, async () => {}))).toMatch(/no tensor to train/);
  });

  it('refuses thread counts and micro-batch sizes that are no whole number from 1', async () => {
    expect(await refusal(opened({ threads: 0 }, async () => {}))).toMatch(/threads is 0/);
    expect(await refusal(opened({ microBatchTokens: 0.5 }, async () => {}))).toMatch(/microBatchTokens is 0\.5/);
  });

  it('stops on a loss that is no number instead of spoiling the weights', async () => {
    const spoilt = join(folder, 'spoilt');
    await writeGoldenCheckpoint(spoilt, g.architecture);
    const weights = g.weights();
    // Finite, as a checkpoint has to be, and too large for the logits.
    weights.flat.fill(3e38, weights.flat.length - 1);
    await writeWeights(spoilt, weights);
    await opened({ checkpoint: spoilt }, async (trainer) => {
      expect(await refusal(trainer.sftStep(g.sftItems, g.optimizer))).toMatch(/the loss is NaN.*left as they are/);
      expect(trainer.stepsTaken).toBe(0);
    });
  });
});

describe('engines and devices', () => {
  it('says which engine to use for one that is not in this version', async () => {
    expect(await refusal(createTrainer('tfjs', options()))).toMatch(/tfjs is not in this version; use engine: onnx/);
    expect(await refusal(createTrainer('tinker', options()))).toMatch(/tinker/);
  });

  it('auto takes a device that works; a missing one is an error that says what it needs', async () => {
    await opened({ device: 'auto' }, async (trainer) => {
      expect(['cpu', 'cuda']).toContain(trainer.device);
      if (trainer.device === 'cpu') {
        const message = await refusal(opened({ device: 'cuda' }, async () => {}));
        expect(message).toMatch(/trainer\.device cuda does not work here: .*NVIDIA driver/);
      }
    });
  });
});

describe('the worker thread', () => {
  it('trains, scores with progress, exports, and leaves the calling thread free', async () => {
    const trainer = await startTrainerWorker(workerFile, options());
    expect(trainer.engine).toBe('onnx');
    expect(trainer.device).toBe('cpu');
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const progress: number[] = [];
    const scores = await trainer.score(g.sftItems, (done, total) => {
      expect(total).toBe(g.sftItems.length);
      progress.push(done);
    });
    expect(largestDifference(scores, g.logprobs)).toBeLessThan(1e-4);
    expect(progress[progress.length - 1]).toBe(g.sftItems.length);
    for (const step of g.steps) {
      const result =
        step.batch === 'sft'
          ? await trainer.sftStep(g.sftItems, g.optimizer)
          : await trainer.rlStep(g.rlItems, g.rlOptions, g.optimizer);
      expect(Math.abs(result.loss - step.loss)).toBeLessThan(1e-5);
    }
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    expect(trainer.stepsTaken).toBe(3);
    const out = join(folder, 'from-worker');
    await Promise.all([trainer.exportCheckpoint(out), trainer.saveOptimizer(join(out, 'optimizer'))]);
    const { weights } = await readCheckpoint(out);
    expect(worstTensor(g.architecture, weights.flat, g.weightsAfterSteps).error).toBeLessThan(1e-4);
    expect(existsSync(join(out, 'optimizer', OPTIMIZER_FILE))).toBe(true);
    expect(await refusal(trainer.sftStep([], g.optimizer))).toMatch(/empty/);
    await trainer.close();
    expect(await refusal(trainer.score(g.sftItems))).toMatch(/closed/);
    await trainer.close();
  });

  it('passes on why a trainer cannot be opened', async () => {
    const message = await refusal(startTrainerWorker(workerFile, options({ checkpoint: join(folder, 'absent') })));
    expect(message).toContain('absent');
  });
});
