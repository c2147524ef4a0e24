/** Our side of the speed comparisons: the trainer's engine and the server's decoder in a process of their own. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { Random } from '../../protocol/random.ts';
import type { PlannerWeights } from '../../trainer-daemon/planner/architecture.ts';
import { GraphBuilder } from '../../trainer-daemon/planner/onnx/builder.ts';
import { Decoder } from '../../trainer-daemon/planner/serving/decoder.ts';
import { commonPrefix } from '../../trainer-daemon/planner/serving/prefix-cache.ts';
import { Sampler } from '../../trainer-daemon/planner/serving/sampling.ts';
import type { TrainingSequence } from '../../trainer-daemon/trainers/contract.ts';
import { freshAdamState } from '../../trainer-daemon/trainers/onnx/adamw.ts';
import { sessionOptions } from '../../trainer-daemon/trainers/onnx/device.ts';
import { OnnxEngine } from '../../trainer-daemon/trainers/onnx/engine.ts';
import type { Timing } from '../measure.ts';
import type { GreedyReply, SampleReply, SideRequest, StepReply } from './protocol.ts';

let weights: PlannerWeights;
let threads = 1;
let engine: OnnxEngine | undefined;
let items: TrainingSequence[] = [];
let decoder: Decoder | undefined;
const products = new Map<number, { session: InferenceSession; feeds: Record<string, Tensor> }>();

async function timed<T>(work: () => Promise<T>): Promise<T & Timing> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const value = await work();
  const seconds = (performance.now() - started) / 1000;
  const used = process.cpuUsage(cpu);
  return { ...value, seconds, cpu: (used.user + used.system) / 1e6 };
}

async function answer(request: SideRequest): Promise<object> {
  switch (request.do) {
    case 'load': {
      const bytes = readFileSync(request.weights);
      const flat = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
      weights = { architecture: request.architecture, flat };
      threads = request.threads;
      return {};
    }
    case 'loss': {
      const { microBatchTokens } = request;
      engine ??= new OnnxEngine(weights, freshAdamState(weights.flat.length), {
        device: 'cpu',
        threads,
        ...(microBatchTokens > 0 && { microBatchTokens }),
      });
      items = request.items;
      const { loss } = await engine.sftGradients(items);
      return { loss };
    }
    case 'step': {
      if (engine === undefined) throw new Error('no batch yet');
      const trainer = engine;
      return timed(async (): Promise<Omit<StepReply, keyof Timing>> => {
        const { loss, gradNorm } = await trainer.sftStep(items, request.optimizer);
        return { loss, gradNorm };
      });
    }
    case 'greedy':
      return greedy(request.prompts, request.tokens);
    case 'sample':
      return sample(request.prompts, request.tokens, request.seed);
    case 'product':
      return product(request.size, request.repeats);
  }
}

/**
 * The decoder with all prompts in its slots, as the scheduler does it: one after another, what a prompt has in common
 * with an earlier one copied, and what is common to all stored once, in steps of 64 tokens.
 * @param first told the logits of each prompt's last token.
 */
async function withPrompts(
  prompts: number[][],
  tokens: number,
  first: (slot: number, logits: Float32Array) => void,
): Promise<Decoder> {
  const lengths = prompts.map((prompt) => prompt.length);
  const longest = Math.max(...lengths) + tokens;
  decoder ??= await Decoder.create(weights, { slots: prompts.length, context: weights.architecture.context, threads });
  decoder.fit([], longest, prompts.length);
  const common = Math.min(...prompts.map((prompt) => commonPrefix(prompts[0], prompt)), Math.min(...lengths) - 1);
  for (const [slot, ids] of prompts.entries()) {
    const known = slot === 0 ? 0 : common;
    if (known > 0) decoder.copy(0, slot, known);
    first(slot, await decoder.prefill(slot, ids.slice(known), known));
  }
  decoder.fit(lengths, longest, prompts.length, common - (common % 64));
  return decoder;
}

async function greedy(prompts: number[][], count: number): Promise<GreedyReply> {
  const best = (logits: Float32Array) => {
    const id = logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
    const total = logits.reduce((sum, x) => sum + Math.exp(x - logits[id]), 0);
    return { id, logprob: -Math.log(total) };
  };
  const given: { id: number; logprob: number }[][] = [];
  const server = await withPrompts(prompts, count, (slot, logits) => {
    given[slot] = [best(logits)];
  });
  for (let n = 1; n < count; n++) {
    const logits = await server.step(
      given.map((row) => row[n - 1].id),
      prompts.map((prompt) => prompt.length + n - 1),
    );
    const vocabulary = logits.length / prompts.length;
    given.forEach((row, i) => {
      row.push(best(logits.subarray(i * vocabulary, (i + 1) * vocabulary)));
    });
  }
  return {
    tokens: given.map((row) => row.map(({ id }) => id)),
    logprobs: given.map((row) => row.map(({ logprob }) => logprob)),
  };
}

/** All responses token by token, each sampled. */
async function sample(prompts: number[][], count: number, seed: number): Promise<SampleReply> {
  const samplers = prompts.map(
    (_, i) =>
      new Sampler({
        temperature: 1,
        topP: 1,
        topK: -1,
        presencePenalty: 0,
        frequencyPenalty: 0,
        seed: `${seed} ${i}`,
        topLogprobs: 0,
      }),
  );
  const rows: number[] = [];
  const logprobs: number[] = [];
  const take = (i: number, logits: Float32Array) => {
    const token = samplers[i].sample(logits);
    rows[i] = token.id;
    logprobs.push(token.logprob);
  };
  const { server, ...prompt } = await timed(async () => ({ server: await withPrompts(prompts, count, take) }));
  const steps: number[] = [];
  const decode = await timed(async () => {
    for (let n = 1; n < count; n++) {
      const started = performance.now();
      const logits = await server.step(
        rows,
        prompts.map((ids) => ids.length + n - 1),
      );
      const vocabulary = logits.length / prompts.length;
      for (let i = 0; i < prompts.length; i++) take(i, logits.subarray(i * vocabulary, (i + 1) * vocabulary));
      steps.push((performance.now() - started) / 1000);
    }
    return {};
  });
  if (logprobs.length !== count * prompts.length) throw new Error('a token without its log-prob');
  return { prompt, decode, steps };
}

async function product(size: number, repeats: number): Promise<Timing> {
  let known = products.get(size);
  if (known === undefined) {
    const g = new GraphBuilder();
    const a = g.input('a', [size, size]);
    const b = g.input('b', [size, size]);
    // Only one number leaves the graph: no copy of the product is timed.
    g.output(g.reduceMax(g.gemm(a, b), [0, 1], false), 'y', []);
    const session = await InferenceSession.create(g.build(), sessionOptions('cpu', threads));
    const random = new Random('matrix');
    const matrix = () =>
      new Tensor(
        'float32',
        Float32Array.from({ length: size * size }, () => random.normal()),
        [size, size],
      );
    known = { session, feeds: { a: matrix(), b: matrix() } };
    products.set(size, known);
  }
  const { session, feeds } = known;
  return timed(async () => {
    for (let i = 0; i < repeats; i++) await session.run(feeds);
    return {};
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply: object;
  try {
    reply = await answer(JSON.parse(line) as SideRequest);
  } catch (error) {
    reply = { error: (error as Error).message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
