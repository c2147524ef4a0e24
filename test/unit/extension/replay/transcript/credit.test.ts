import { describe, expect, it } from 'vitest';
import {
  type CreditWords,
  creditsOf,
  creditText,
  numberWords,
  reasonWords,
} from '../../../../../extension/replay/transcript/credit.ts';
import { summaryOf, tokenLines } from '../../../../../extension/replay/transcript/token-words.ts';
import { isDamaged, openRecording } from '../../../../../recordings/index.ts';
import { openReplayEpisode, tokensOf } from '../../../../../recordings/replay/index.ts';
import { recordedGroup, SECTION } from '../../../recordings/replay/hand-made.ts';
import { linesOf } from '../../../trainer-daemon/store/runs.ts';

const words: CreditWords = {
  ...{ reward: 'reward {0}', invalid: 'invalid: {0}', advantage: 'advantage {0}', used: 'trained on, u {0}' },
  ...{ unused: 'not trained on: {0}', target: 'target', historyOnly: 'history', dropped: 'dropped: {0}' },
};
const language = { t: (text: string) => text };

describe('what became of a call', () => {
  it('is told with the numbers of samples.jsonl and episodes.jsonl, for every call of a group', async () => {
    const folder = await recordedGroup();
    const recording = await openRecording(folder);
    let seen = 0;
    for (const id of ['e0', 'e1', 'e2']) {
      const episode = await openReplayEpisode(recording, SECTION, id);
      const { samples } = await creditsOf(episode);
      for (let position = 0; position < episode.length; position++) {
        const { call } = await episode.call(position);
        if (isDamaged(call)) throw new Error(call.damaged);
        const text = creditText(episode.outcome, samples.get(call.id), undefined, words, language);
        const line = linesOf(folder, SECTION, 'samples.jsonl').find((one) => one.call === call.id);
        const record = linesOf(folder, SECTION, 'episodes.jsonl').find((one) => one.id === id);
        expect(line).toBeDefined();
        const advantage = /advantage (\S+)/.exec(text)?.[1];
        if (line?.advantage === null) expect(advantage).toBeUndefined();
        else expect(Number(advantage)).toBe(line?.advantage);
        const u = /trained on, u ([\d.]+)/.exec(text)?.[1];
        if (line?.status === 'selected') expect(Number(u)).toBeCloseTo(line.u as number, 6);
        else expect(text).toContain(`not trained on: ${reasonWords(String(line?.status), language)}`);
        if (record?.valid) expect(Number(/reward (\S+)/.exec(text)?.[1])).toBe(record.reward);
        else expect(text).toContain(`invalid: ${record?.invalidReason}`);
        seen++;
      }
    }
    expect(seen).toBe(7);
    await recording.close();
  });

  it('is said in words where the reason is known, and as it is where not', () => {
    expect(reasonWords('zero-weight:prompt-mismatch', language)).toContain('other tokens than recorded');
    expect(reasonWords('zero-weight:constructor', language)).toBe('zero-weight:constructor');
    expect(reasonWords('constructor', language)).toBe('constructor');
    expect(numberWords(1 / 3)).toBe('0.333333');
    const outcome = { record: null, reason: 'x', damaged: false, running: true };
    expect(creditText(outcome, undefined, undefined, words, language)).toBe('');
    const target = { call: 'c', episode: 'e', source: null, promptLength: null, responseLength: null };
    expect(creditText(outcome, undefined, { ...target, status: 'dropped:judge' }, words, language)).toBe(
      'dropped: judge',
    );
  });
});

describe('the tokens of a call', () => {
  it('are told with the numbers of calls.jsonl and of the last pass of scores.jsonl', async () => {
    const folder = await recordedGroup();
    const recording = await openRecording(folder);
    const episode = await openReplayEpisode(recording, SECTION, 'e0');
    for (let position = 0; position < episode.length; position++) {
      const told = await episode.call(position);
      if (isDamaged(told.call)) throw new Error(told.call.damaged);
      const { id, logprobs } = told.call;
      const score = linesOf(folder, SECTION, 'scores.jsonl').findLast((one) => one.call === id) as
        | Record<'logq' | 'logp' | 'w' | 'clipped', number[]>
        | undefined;
      const tokens = tokensOf(told, undefined);
      tokens.forEach((token, k) => {
        const lines = tokenLines(token, k, tokens.length);
        const value = (name: string) =>
          /^\S+(?: \S)? +(-?[\d.]+)/.exec(lines.find((one) => one.startsWith(`${name} `)) ?? '')?.[1];
        expect(Number(value('log b'))).toBe(logprobs?.[k]);
        if (!score) {
          expect(lines).toHaveLength(2);
          return;
        }
        expect(Number(value('log q'))).toBe(score.logq[k]);
        expect(Number(value('log p'))).toBeCloseTo(score.logp[k], 5);
        expect(Number(value('w'))).toBe(score.w[k]);
        expect(lines).toContain(`clipped  ${['no', 'low', 'high', 'dual'][score.clipped[k]]}`);
      });
      expect(summaryOf(tokens)).toEqual({ count: 2, logb: -0.875, clipped: score ? 1 : null });
    }
    await recording.close();
  });

  it('cannot put markup or hidden characters into their lines', () => {
    const token = {
      id: 3,
      text: '```\n[x](command:y)\u202e',
      logb: null,
      logq: null,
      logp: null,
      w: null,
      clipped: null,
    };
    expect(tokenLines(token, 0, 1)).toEqual(['token 1 of 1: "```␊[x](command:y)‹U+202E›", id 3']);
  });
});
