/**
 * The ONNX engine against PyTorch (golden values in float64): losses to 1e-5, gradients to 1e-4 of each tensor's
 * largest value, log-probs to 1e-4. Every engine has to pass these.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { freshAdamState } from '../../../../trainer-daemon/trainers/onnx/adamw.ts';
import { type EngineOptions, OnnxEngine } from '../../../../trainer-daemon/trainers/onnx/engine.ts';
import { type GoldenKind, golden, largestDifference, worstTensor } from './golden.ts';

const engines: OnnxEngine[] = [];

function engineFor(kind: GoldenKind, options: Partial<EngineOptions> = {}): OnnxEngine {
  const weights = golden(kind).weights();
  const engine = new OnnxEngine(weights, freshAdamState(weights.flat.length), {
    device: 'cpu',
    threads: 2,
    ...options,
  });
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

const variants: { name: string; options: Partial<EngineOptions> }[] = [
  { name: 'merged rows, one micro-batch a length', options: {} },
  { name: 'a row for each sequence', options: { mergePrefixes: false } },
  { name: 'micro-batches of one row', options: { microBatchTokens: 1 } },
  { name: 'one row a micro-batch, not merged', options: { microBatchTokens: 1, mergePrefixes: false } },
  { name: 'portable operators', options: { operators: 'portable' } },
  { name: 'one thread', options: { threads: 1 } },
];

describe.each(['tied', 'untied'] as const)('%s embeddings', (kind) => {
  const g = golden(kind);

  it('names and orders the tensors as the golden model does', () => {
    const shapes = g.tensors.map((t) => t.shape.reduce((x, y) => x * y, 1));
    expect(shapes.reduce((x, y) => x + y, 0)).toBe(g.weights().flat.length);
  });

  describe.each(variants)('$name', ({ options }) => {
    it('log-probs', async () => {
      const scores = await engineFor(kind, options).score(g.sftItems);
      expect(largestDifference(scores, g.logprobs)).toBeLessThan(1e-4);
    });

    it('eq. 3: loss, log-probs and gradients', async () => {
      const engine = engineFor(kind, options);
      const { loss, logprobs } = await engine.sftGradients(g.sftItems);
      expect(Math.abs(loss - g.sftLoss)).toBeLessThan(1e-5);
      expect(largestDifference(logprobs, g.logprobs)).toBeLessThan(1e-4);
      const worst = worstTensor(g.architecture, engine.gradientsOfLastPass, g.sftGradients);
      expect(worst.error, worst.name).toBeLessThan(1e-4);
    });

    it('eq. 3 and a weighted loss over prompts: the sum of both gradients', async () => {
      const [, b] = g.sftItems;
      // Two turns of one episode: the second prompt begins with the first turn.
      const answered = [...Array.from(b.promptTokenIds), ...Array.from(b.responseTokenIds)];
      const observation = Array.from(b.responseTokenIds).reverse();
      const turns = [b, { promptTokenIds: [...answered, ...observation], responseTokenIds: [1, 2] }];
      const read = [
        { promptTokenIds: [b.promptTokenIds[0]], responseTokenIds: Array.from(b.promptTokenIds).slice(1) },
        { promptTokenIds: answered, responseTokenIds: observation },
      ];
      const engine = engineFor(kind, options);
      const alone = await engine.sftGradients(turns);
      const expected = engine.gradientsOfLastPass.slice();
      await engine.sftGradients(read);
      engine.gradientsOfLastPass.forEach((value, i) => {
        expected[i] += 0.25 * value;
      });
      const { loss, logprobs } = await engine.sftGradients(turns, 0.25);
      expect(Math.abs(loss - alone.loss)).toBeLessThan(1e-5);
      expect(largestDifference(logprobs, alone.logprobs)).toBeLessThan(1e-4);
      const worst = worstTensor(g.architecture, engine.gradientsOfLastPass, expected);
      expect(worst.error, worst.name).toBeLessThan(1e-4);
    });

    it('eq. 5-7: loss, log-probs and gradients', async () => {
      const engine = engineFor(kind, options);
      const { loss, logprobs } = await engine.rlGradients(g.rlItems, g.rlOptions);
      expect(Math.abs(loss - g.rlLoss)).toBeLessThan(1e-5);
      expect(largestDifference(logprobs, g.logprobs)).toBeLessThan(1e-4);
      const worst = worstTensor(g.architecture, engine.gradientsOfLastPass, g.rlGradients);
      expect(worst.error, worst.name).toBeLessThan(1e-4);
    });
  });

  it('three clipped AdamW steps with weight decay, on eq. 3, eq. 5 and eq. 3', async () => {
    const engine = engineFor(kind);
    for (const step of g.steps) {
      const result =
        step.batch === 'sft'
          ? await engine.sftStep(g.sftItems, g.optimizer)
          : await engine.rlStep(g.rlItems, g.rlOptions, g.optimizer);
      expect(Math.abs(result.loss - step.loss)).toBeLessThan(1e-5);
      expect(Math.abs(result.gradNorm / step.gradNorm - 1)).toBeLessThan(1e-4);
    }
    expect(engine.state.steps).toBe(3);
    const worst = worstTensor(g.architecture, engine.weights.flat, g.weightsAfterSteps);
    expect(worst.error, worst.name).toBeLessThan(1e-4);
  });

  it('RL statistics: the branch of every token and its importance weight', async () => {
    const result = await engineFor(kind).rlStep(g.rlItems, g.rlOptions, g.optimizer);
    expect(result.clipped.map((x) => [...x])).toEqual(g.clipped);
    const branches = new Set(g.clipped.flat());
    expect([...branches].sort()).toEqual([0, 1, 2, 3]);
    expect(largestDifference(result.importanceWeights, g.importance)).toBeLessThan(1e-5);
    // Items 5 (A = 0) and 6 (u = 0) have no weight and are not counted.
    const counted = g.clipped.slice(0, 5).flat();
    expect(result.tokens).toBe(counted.length);
    const share = (flag: number) => counted.filter((x) => x === flag).length / counted.length;
    expect(result.clipFractions).toEqual({ low: share(1), high: share(2), dual: share(3) });
    expect(result.importance.cappedShare).toBeCloseTo(
      g.rlItems
        .slice(0, 5)
        .flatMap((item) =>
          Array.from(item.oldLogprobs, (q, t) => (q - item.behaviourLogprobs[t] > Math.log(2) ? 1 : 0)),
        )
        .reduce<number>((x, y) => x + y, 0) / counted.length,
      12,
    );
    expect(result.responseLength).toEqual({ mean: counted.length / 5, max: 17 });
    // The estimate of KL(q || p) has no negative term.
    expect(result.approximateKl).toBeGreaterThan(0);
  });
});

describe('what the gradient leaves out', () => {
  const g = golden('tied');

  it('responses with zero weight change nothing', async () => {
    const engine = engineFor('tied');
    const all = await engine.rlGradients(g.rlItems, g.rlOptions);
    const gradients = engine.gradientsOfLastPass.slice();
    const some = await engine.rlGradients(g.rlItems.slice(0, 5), g.rlOptions);
    expect(some.loss).toBeCloseTo(all.loss, 6);
    const worst = worstTensor(g.architecture, engine.gradientsOfLastPass, gradients);
    expect(worst.error, worst.name).toBeLessThan(1e-5);
  });

  it('frozen tensors keep their values; the others move', async () => {
    const engine = engineFor('tied', { freeze: ['model.embed_tokens', 'model.layers.0.'] });
    const before = engine.weights.flat.slice();
    await engine.sftStep(g.sftItems, g.optimizer);
    const { error } = worstTensor(g.architecture, engine.gradientsOfLastPass, g.sftGradients);
    expect(error).toBe(1);
    const moved = new Map<string, boolean>();
    let offset = 0;
    for (const { name, shape } of g.tensors) {
      const size = shape.reduce((x, y) => x * y, 1);
      const slice = (flat: Float32Array) => [...flat.subarray(offset, offset + size)];
      moved.set(name, JSON.stringify(slice(before)) !== JSON.stringify(slice(engine.weights.flat)));
      offset += size;
    }
    for (const [name, itMoved] of moved) {
      expect(itMoved, name).toBe(!/^model\.(embed_tokens|layers\.0\.)/.test(name));
    }
  });
});

describe('determinism', () => {
  const g = golden('untied');

  it('two runs of three steps give the same bits', async () => {
    const run = async () => {
      const engine = engineFor('untied');
      await engine.sftStep(g.sftItems, g.optimizer);
      await engine.rlStep(g.rlItems, g.rlOptions, g.optimizer);
      await engine.sftStep(g.sftItems, g.optimizer);
      return Buffer.from(engine.weights.flat.buffer).toString('base64');
    };
    expect(await run()).toBe(await run());
  });
});
