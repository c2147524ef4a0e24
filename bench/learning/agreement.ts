/**
 * How far rounds agree on where the weights should go: the gradients of eq. 5-7 of several rounds, all under the weights
 * that the first began with, compared with one another by tensor. Each round has states of its own, so what two of them
 * share is what reinforcement learning tells of the task, and the rest is noise of the sampling.
 */
import { join } from 'node:path';
import { configSchema } from '../../protocol/config.ts';
import { policySection, roundSection } from '../../protocol/ids.ts';
import { isDamaged, openRecording, type Recording } from '../../recordings/index.ts';
import { tensorSpecs } from '../../trainer-daemon/planner/architecture.ts';
import { readCheckpoint } from '../../trainer-daemon/planner/checkpoint.ts';
import type { RlItem } from '../../trainer-daemon/trainers/contract.ts';
import { freshAdamState } from '../../trainer-daemon/trainers/onnx/adamw.ts';
import { OnnxEngine } from '../../trainer-daemon/trainers/onnx/engine.ts';

/** Of the tensors with the same place in all layers, or of one layer. */
export interface Agreement {
  tensors: string;
  parameters: number;
  /** Mean cosine between the gradients of two rounds: the share of a round's squared gradient that is signal. */
  cosine: number;
  /** Signal squared as a share of that of all tensors. */
  signal: number;
}

/**
 * @param rounds 1-based; all are differentiated at the policy that collected the first.
 * @throws Error when a record of these rounds is damaged.
 */
export default async function agreement(directory: string, rounds: number[], threads: number): Promise<Agreement[]> {
  const recording = await openRecording(directory);
  try {
    const { rl } = configSchema.parse(recording.info.config);
    const { weights } = await readCheckpoint(join(directory, policySection(rounds[0])));
    const { architecture, flat } = weights;
    const engine = new OnnxEngine(weights, freshAdamState(flat.length), { device: 'cpu', threads });
    const gradients: Float32Array[] = [];
    try {
      for (const round of rounds) {
        const items = await selected(recording, round);
        const old = await engine.score(items);
        await engine.rlGradients(
          items.map((item, i) => ({ ...item, oldLogprobs: old[i] })),
          { clip: rl.clip, importanceCap: rl.importanceCap },
        );
        gradients.push(engine.gradientsOfLastPass.slice());
      }
    } finally {
      await engine.close();
    }
    const groups = new Map<string, [begin: number, end: number][]>([['all', [[0, flat.length]]]]);
    for (const { name, offset, size } of tensorSpecs(architecture)) {
      const layer = /\.layers\.(\d+)\./.exec(name)?.[1];
      const kind = name.replace(/^model\./, '').replace(/^layers\.\d+\./, '');
      const names =
        layer === undefined
          ? [kind]
          : [kind, `layer ${layer}`, ...(kind.includes('mlp.down') ? [`layer ${layer} ${kind}`] : [])];
      for (const group of names) groups.set(group, [...(groups.get(group) ?? []), [offset, offset + size]]);
    }
    const all = parts(gradients, groups.get('all')!);
    return [...groups].map(([tensors, ranges]) => {
      const { between, within } = parts(gradients, ranges);
      const parameters = ranges.reduce((sum, [begin, end]) => sum + end - begin, 0);
      return { tensors, parameters, cosine: between / within, signal: between / all.between };
    });
  } finally {
    await recording.close();
  }
}

/** Mean product of two rounds' gradients, and mean square of one's. */
function parts(gradients: Float32Array[], ranges: [begin: number, end: number][]) {
  const product = (a: Float32Array, b: Float32Array) => {
    let sum = 0;
    for (const [begin, end] of ranges) for (let i = begin; i < end; i++) sum += a[i] * b[i];
    return sum;
  };
  const pairs = gradients.flatMap((a, i) => gradients.slice(0, i).map((b) => product(a, b)));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { between: mean(pairs), within: mean(gradients.map((a) => product(a, a))) };
}

/** What the round was trained on, its old log-probs still open. */
async function selected(recording: Recording, round: number): Promise<RlItem[]> {
  const section = roundSection(round);
  const calls = await recording.calls(section);
  const items: RlItem[] = [];
  for await (const sample of await recording.samples(round)) {
    if (isDamaged(sample)) throw new Error(`${section}/samples.jsonl, line ${sample.line}: ${sample.damaged}`);
    if (sample.status !== 'selected') continue;
    const record = (await calls.forEpisode(sample.episode)).find((one) => !isDamaged(one) && one.id === sample.call);
    if (record === undefined || isDamaged(record)) throw new Error(`${section}/calls.jsonl: no call ${sample.call}`);
    const call = await recording.resolveCall(record);
    if (isDamaged(call)) throw new Error(`${section}/calls.jsonl: ${sample.call}: ${call.damaged}`);
    items.push({
      promptTokenIds: call.promptTokenIds ?? [],
      responseTokenIds: call.responseTokenIds ?? [],
      behaviourLogprobs: call.logprobs ?? [],
      oldLogprobs: [],
      advantage: sample.advantage ?? 0,
      u: sample.u ?? 0,
    });
  }
  await recording.release(section);
  return items;
}
