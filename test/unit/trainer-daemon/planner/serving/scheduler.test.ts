import { describe, expect, it } from 'vitest';
import { Decoder } from '../../../../../trainer-daemon/planner/serving/decoder.ts';
import type { SampledToken, SamplingSettings } from '../../../../../trainer-daemon/planner/serving/sampling.ts';
import { Scheduler, type ServedModel } from '../../../../../trainer-daemon/planner/serving/scheduler.ts';
import { referenceLogprobs } from './reference-forward.ts';
import { smallArchitecture, someIds, someWeights } from './small-models.ts';

const END = 59;
const plain: SamplingSettings = {
  temperature: 1,
  topP: 1,
  topK: -1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: 0,
  topLogprobs: 0,
};

async function model(policyVersion: number, slots = 4, endTokenIds = [END]): Promise<ServedModel> {
  const weights = someWeights(smallArchitecture, `version ${policyVersion}`);
  const decoder = await Decoder.create(weights, { slots, context: smallArchitecture.context, threads: 1 });
  return { decoder, policyVersion, endTokenIds };
}

interface Answer {
  ids: number[];
  logprobs: number[];
  reason: string;
  version: number;
  cached: number;
}

/** A scheduler at work, with answers as promises. */
async function start(
  options: {
    deterministic?: boolean;
    slots?: number;
    cacheBytes?: number;
    workBytes?: number;
    endTokenIds?: number[];
  } = {},
) {
  const tokens = new Map<number, SampledToken[]>();
  const versions = new Map<number, number>();
  const waiting = new Map<number, (answer: Answer) => void>();
  const scheduler = new Scheduler(
    await model(1, options.slots, options.endTokenIds),
    {
      deterministic: options.deterministic ?? false,
      workBytes: options.workBytes ?? 1e9,
      cacheBytes: options.cacheBytes ?? 1e7,
    },
    {
      token(id, token, version) {
        versions.set(id, version);
        tokens.set(id, [...(tokens.get(id) ?? []), token]);
      },
      finished(id, reason, cached) {
        const sampled = tokens.get(id)!;
        waiting.get(id)!({
          ids: sampled.map((token) => token.id),
          logprobs: sampled.map((token) => token.logprob),
          reason,
          version: versions.get(id)!,
          cached,
        });
      },
      stepDone() {},
    },
  );
  const done = scheduler.run();
  let count = 0;
  const ask = (promptIds: number[], maxTokens: number, seed = 0, sampling: Partial<SamplingSettings> = {}) => {
    const id = ++count;
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    scheduler.add({ id, promptIds, maxTokens, sampling: { ...plain, ...sampling, seed } });
    return { id, answer };
  };
  const stop = async () => {
    scheduler.close();
    await done;
  };
  return { scheduler, ask, stop, tokens };
}

/** Largest difference of the answer's log-probs from the plain forward pass over prompt and answer. */
function error(promptIds: number[], answer: Answer): number {
  const weights = someWeights(smallArchitecture, `version ${answer.version}`);
  const reference = referenceLogprobs(weights, [...promptIds, ...answer.ids]);
  return Math.max(...answer.ids.map((id, i) => Math.abs(answer.logprobs[i] - reference[promptIds.length - 1 + i][id])));
}

describe('Scheduler', () => {
  it('answers many requests at once with the log-probabilities of a full forward pass', async () => {
    const { ask, stop, scheduler } = await start();
    const prompts = Array.from({ length: 9 }, (_, i) => someIds(5 + 17 * i, 59, `prompt ${i}`));
    const answers = await Promise.all(prompts.map((prompt, i) => ask(prompt, 20 + i, i).answer));
    answers.forEach((answer, i) => {
      expect(error(prompts[i], answer)).toBeLessThan(5e-5);
      if (answer.reason === 'stop') expect(answer.ids.indexOf(END)).toBe(answer.ids.length - 1);
      else expect(answer.ids).toHaveLength(20 + i);
    });
    const stats = scheduler.stats();
    expect(stats).toMatchObject({ requests: 9, running: 0, waiting: 0 });
    expect(stats.stepRows / stats.steps).toBeGreaterThan(1.5);
    await stop();
  });

  it('reads what requests begin with once for all, while others that share less come and go', async () => {
    const { ask, stop, scheduler } = await start({ slots: 6 });
    const common = someIds(200, 59, 'instructions');
    const prompts = Array.from({ length: 24 }, (_, i) => [
      ...common.slice(0, i === 9 ? 90 : i === 10 ? 0 : 200),
      ...someIds(3 + 5 * i, 59, `task ${i}`),
    ]);
    const answers = await Promise.all(prompts.map((prompt, i) => ask(prompt, 5 + ((7 * i) % 23), i).answer));
    answers.forEach((answer, i) => {
      expect(error(prompts[i], answer), `request ${i}`).toBeLessThan(5e-5);
    });
    const { sharedSteps, steps } = scheduler.stats();
    expect(sharedSteps).toBeGreaterThan(10);
    expect(sharedSteps).toBeLessThan(steps);
    await stop();
  });

  it('takes over the keys and values of earlier turns, of requests at work, and of common instructions', async () => {
    const { ask, stop } = await start();
    const instructions = someIds(60, 59, 'instructions');
    const first = [...instructions, ...someIds(20, 59, 'one')];
    const one = await ask(first, 30, 1).answer;
    expect(one.cached).toBe(0);
    const second = [...first, ...one.ids, ...someIds(15, 59, 'result')];
    const two = await ask(second, 10, 2).answer;
    // All of the first turn but its last token, which was never fed.
    expect(two.cached).toBe(first.length + one.ids.length - 1);
    expect(error(second, two)).toBeLessThan(5e-5);
    const other = [...instructions, ...someIds(9, 59, 'other')];
    const [a, b] = await Promise.all([ask(other, 40, 3).answer, ask(other, 40, 4).answer]);
    expect(a.cached).toBe(60);
    expect(b.cached).toBe(68);
    expect(error(other, b)).toBeLessThan(5e-5);
    // The same prompt again: all but its last token.
    expect((await ask(other, 1, 5).answer).cached).toBe(68);
    await stop();
  });

  it('gives the same answer to the same seed, alone or in company', async () => {
    const { ask, stop } = await start();
    const prompt = someIds(30, 59, 'p');
    const alone = await ask(prompt, 25, 7).answer;
    const crowd = Array.from({ length: 6 }, (_, i) => ask(someIds(20 + 31 * i, 59, `c${i}`), 30, 100 + i).answer);
    const together = await ask(prompt, 25, 7).answer;
    expect(together.ids).toEqual(alone.ids);
    await Promise.all(crowd);
    await stop();
  });

  it('is bit-identical in deterministic mode, whatever came before and meanwhile', async () => {
    const prompts = [someIds(150, 59, 'x'), someIds(64, 59, 'y'), someIds(40, 59, 'z')];
    prompts.push([...prompts[0], ...someIds(60, 59, 'more')]);
    const fresh: Answer[] = [];
    for (const [i, prompt] of prompts.entries()) {
      const { ask, stop } = await start({ deterministic: true });
      fresh.push(await ask(prompt, 20, i).answer);
      await stop();
    }
    const { ask, stop } = await start({ deterministic: true });
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
    ]) {
      const answers = await Promise.all(order.map((i) => ask(prompts[i], 20, i).answer));
      answers.forEach((answer, at) => {
        const { cached, ...rest } = answer;
        const { cached: _, ...expected } = fresh[order[at]];
        expect(rest).toEqual(expected);
        expect(cached % 64).toBe(0);
      });
    }
    expect((await ask(prompts[3], 1, 3).answer).cached).toBe(192);
    await stop();
  });

  it('changes weights between requests: earlier ones finish under the old, later ones wait', async () => {
    const { ask, stop, scheduler } = await start();
    const prompts = Array.from({ length: 8 }, (_, i) => someIds(30, 59, `s${i}`));
    const before = prompts.map((prompt, i) => ask(prompt, 25, i).answer);
    const swapped = scheduler.swap(model(2));
    const after = prompts.map((prompt, i) => ask(prompt, 25, i).answer);
    const failed = scheduler.swap(Promise.reject(new Error('no such folder')));
    const last = ask(prompts[0], 5, 3).answer;
    await swapped;
    await expect(failed).rejects.toThrow('no such folder');
    for (const [i, answer] of (await Promise.all(before)).entries()) {
      expect(answer.version).toBe(1);
      expect(error(prompts[i], answer)).toBeLessThan(5e-5);
    }
    for (const [i, answer] of (await Promise.all(after)).entries()) {
      expect(answer).toMatchObject({ version: 2, cached: 0 });
      expect(error(prompts[i], answer)).toBeLessThan(5e-5);
    }
    expect((await last).version).toBe(2);
    await stop();
  });

  it('forgets cancelled requests, waiting or running, and lets the others go on', async () => {
    const { ask, stop, scheduler, tokens } = await start({ slots: 2 });
    const long = [0, 1, 2, 3].map((i) => ask(someIds(20, 58, `l${i}`), 300, i, { topK: 1 }));
    const kept = ask(someIds(25, 59, 'kept'), 10, 9);
    scheduler.cancel(long[3].id);
    await new Promise((resolve) => setTimeout(resolve, 30));
    for (const { id } of long.slice(0, 3)) scheduler.cancel(id);
    const answer = await kept.answer;
    expect(error(someIds(25, 59, 'kept'), answer)).toBeLessThan(5e-5);
    expect(tokens.has(long[3].id)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(scheduler.stats()).toMatchObject({ running: 0, waiting: 0 });
    await stop();
  });

  it('ends a response at the end of the context', async () => {
    const { ask, stop } = await start({ endTokenIds: [] });
    const prompt = someIds(390, 59, 'full');
    const answer = await ask(prompt, 100, 1).answer;
    expect(answer.reason).toBe('length');
    expect(answer.ids).toHaveLength(10);
    expect(error(prompt, answer)).toBeLessThan(5e-5);
    await stop();
  });

  it('lets requests wait when their keys and values would not fit, and answers all', async () => {
    // Room for two sequences of up to 128 positions: 2 * 128 * (2 * 2 layers * 2 heads * 16 * 4) = 131,072 bytes.
    const { ask, stop, scheduler } = await start({ workBytes: 131_072 });
    const prompts = Array.from({ length: 5 }, (_, i) => someIds(i === 2 ? 300 : 30, 59, `w${i}`));
    const answers = await Promise.all(prompts.map((prompt, i) => ask(prompt, 20, i).answer));
    answers.forEach((answer, i) => {
      expect(error(prompts[i], answer)).toBeLessThan(5e-5);
    });
    const { stepRows, steps } = scheduler.stats();
    expect(stepRows / steps).toBeLessThanOrEqual(2);
    await stop();
  });

  it('stays within the memory for finished sequences', async () => {
    // One sequence of 40 tokens takes 2 * 2 layers * 2 heads * 16 * 40 * 4 bytes = 40,960.
    const { ask, stop, scheduler } = await start({ cacheBytes: 100_000 });
    for (let i = 0; i < 6; i++) {
      await ask(someIds(40, 59, `m${i}`), 1, i).answer;
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(scheduler.stats().cacheBytes).toBeLessThanOrEqual(100_000);
    }
    expect(scheduler.stats().cacheBytes).toBe(81_920);
    await stop();
  });
});
