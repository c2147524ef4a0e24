import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRecording } from '../../../../recordings/index.ts';
import { FACT_NAMES, levelOf, parseCondition, placeAt, valueAt } from '../../../../recordings/replay/facts.ts';
import { openReplayEpisode, type Part } from '../../../../recordings/replay/index.ts';
import { trainBpe, writeTokenizer } from '../../../../trainer-daemon/planner/tokenizer.ts';
import { linesOf } from '../../trainer-daemon/store/runs.ts';
import { recordedGroup, SECTION } from './hand-made.ts';

async function asking(folder: string, id = 'e0') {
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  const episode = await openReplayEpisode(recording, SECTION, id);
  return async (text: string, call = 0, part: Part = 'call') =>
    valueAt(parseCondition(text), await placeAt(episode, call, part));
}

describe('facts', () => {
  it('of a call are those of its records', async () => {
    const folder = await recordedGroup();
    const ask = await asking(folder);
    for (const [call, sample] of linesOf(folder, SECTION, 'samples.jsonl').slice(0, 4).entries()) {
      expect(await ask('sample', call)).toEqual(sample);
      expect([await ask('advantage', call), await ask('u', call), await ask('L', call)]).toEqual([
        sample.advantage,
        sample.u,
        sample.responseLength,
      ]);
    }
    expect(await ask('status + "/" + reason', 3)).toBe('zero-weight:prompt-mismatch/prompt-mismatch');
    expect(await ask('logprob')).toEqual({ min: -1.5, mean: -0.875, max: -0.25, sum: -1.75 });
    expect([await ask('logq.sum'), await ask('logp.max'), await ask('weight.min'), await ask('clipped')]).toEqual([
      -1.6 - 0.3,
      -0.2 - 0.1,
      0.9,
      1,
    ]);
    expect(await ask('turn', 2)).toBe(2);
    expect([await ask('tokens'), await ask('latency'), await ask('finishReason'), await ask('truncated')]).toEqual([
      2,
      2,
      'tool_calls',
      false,
    ]);
    expect(await ask('called contains "pick" && newSince == 2', 1)).toBe(true);
    expect(await ask('messages.length', 1)).toBe(4);
  });

  it('of tool calls are told at them alone', async () => {
    const ask = await asking(await recordedGroup());
    expect([await ask('tool', 1), await ask('tool', 1, 0), await ask('arguments.grasp', 1, 1)]).toEqual([
      null,
      'pick',
      'top',
    ]);
    expect([await ask('failed', 1, 0), await ask('result', 1, 1), await ask('failed', 1, 1)]).toEqual([
      true,
      'held',
      false,
    ]);
    expect([await ask('held', 0), await ask('held', 1, 0), await ask('held', 1), await ask('held', 2)]).toEqual([
      null,
      null,
      'red_cube',
      null,
    ]);
  });

  it('of the episode and its group are told everywhere', async () => {
    const ask = await asking(await recordedGroup());
    for (const part of ['call', 'outcome'] as const) {
      expect(await ask('reward', 3, part)).toBe(1);
      expect(await ask('group.mean', 3, part)).toBe(0.5);
      expect(await ask('group.rewards', 3, part)).toEqual([1, 0]);
      expect(await ask('group.size - group.valid', 3, part)).toBe(1);
    }
    expect([await ask('turn', 3, 'outcome'), await ask('successTurn', 3, 'outcome')]).toEqual([null, 2]);
  });

  it('tell the text of tokens where the tokenizer is there', async () => {
    const folder = await recordedGroup();
    expect(await (await asking(folder))('token[1]')).toEqual({
      ...{ id: 5, text: null, logb: -1.5, logq: -1.6, logp: -1.5, w: 0.9, clipped: 'high' },
    });
    mkdirSync(join(folder, 'policies/v0000'), { recursive: true });
    const text = { pieces: ['aaaa', ' bb', 'é'].flatMap((piece) => [piece, piece, piece]) };
    await writeTokenizer(join(folder, 'policies/v0000'), trainBpe(text.pieces, 260), 64, '{{ messages }}');
    const ask = await asking(folder);
    expect(await ask('token[0].text')).toBeTypeOf('string');
    cpSync(join(folder, 'run.json'), join(folder, 'policies/v0001/tokenizer.json'));
    // One that is none is passed over.
    expect(await (await asking(folder))('token[0].text')).toBe(await ask('token[0].text'));
  });

  it('all have a value or null at every position, also where nothing is known', async () => {
    for (const id of ['e0', 'e2']) {
      const ask = await asking(await recordedGroup(), id);
      for (const name of FACT_NAMES) {
        for (const part of ['call', 0, 'outcome'] as const) expect(await ask(name, 0, part)).not.toBeUndefined();
      }
    }
  });

  it('know where their values change', () => {
    const of = (text: string) => levelOf(parseCondition(text));
    expect([of('reward == 1'), of('turn > 1 && reward == 1'), of('turn > 1 && tool == "pick"'), of('1')]).toEqual([
      'episode',
      'call',
      'part',
      'episode',
    ]);
    expect(() => parseCondition('revard == 1')).toThrow('did you mean "reward"?');
  });
});
