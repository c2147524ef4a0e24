import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BYTE_CHARACTERS } from '../../../../protocol/byte-alphabet.ts';
import { openRecording } from '../../../../recordings/index.ts';
import {
  heatLevel,
  openReplayEpisode,
  type ReplayToken,
  ratioOf,
  readTranscript,
  tokenPlaces,
  Vocabulary,
  vocabularyOf,
} from '../../../../recordings/replay/index.ts';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { call, episode as record, runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';
import { SECTION } from './hand-made.ts';

/** A tokenizer.json whose tokens are these byte strings, and after them these control tokens. */
function tokenizer(tokens: (string | number[])[], control: string[] = []): string {
  const written = tokens.map((token) =>
    [...(typeof token === 'string' ? Buffer.from(token) : token)].map((byte) => BYTE_CHARACTERS[byte]).join(''),
  );
  return JSON.stringify({
    added_tokens: control.map((content, k) => ({ id: tokens.length + k, content })),
    model: { vocab: Object.fromEntries(written.map((token, k) => [token, k])) },
  });
}
const parse = (text: string) => Vocabulary.parse(Buffer.from(text)) as Vocabulary;

describe('the text of tokens', () => {
  it('is put together over tokens that hold parts of a character', () => {
    const [first, second] = [[...Buffer.from('é')].slice(0, 1), [...Buffer.from('é')].slice(1)];
    const vocabulary = parse(tokenizer(['a', first, second, ' b'], ['<|end|>']));
    expect(vocabulary.decode([0, 1, 2, 3, 4])).toEqual({ text: 'aé b<|end|>', ends: [1, 1, 2, 4, 11] });
    // What is cut short or unknown is told as such, and the tokens after it are where they are.
    expect(vocabulary.decode([1, 4, 99, 0])).toEqual({ text: '\ufffd<|end|>\ufffda', ends: [0, 8, 9, 10] });
    expect(vocabulary.decode([0, 1])).toEqual({ text: 'a\ufffd', ends: [1, 2] });
    expect([vocabulary.text(1), vocabulary.text(4), vocabulary.text(99)]).toEqual(['\ufffd', '<|end|>', null]);
  });
});

describe('tokens in a transcript', () => {
  const pieces = ['I ', 'look\nat', ' \u001b[0m', 'it', '{"a"', ':1}', '\n', 'look'];
  const control = ['<think>', '</think>', '<tool_call>', '</tool_call>', '<|im_end|>'];

  async function recorded(ids: number[]) {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    await run.section(SECTION).appendCall(
      call({
        responseTokenIds: ids,
        logprobs: ids.map(() => -1),
        response: {
          content: 'look\nat \u001b[0mit',
          reasoning: 'I look\nat',
          toolCalls: [{ id: 't', type: 'function', function: { name: 'see', arguments: '{"a":1}' } }],
        },
      }),
    );
    await run.section(SECTION).appendEpisode(record('e0'));
    await run.close();
    mkdirSync(join(folder, 'policies/v0001'), { recursive: true });
    writeFileSync(join(folder, 'policies/v0001/tokenizer.json'), tokenizer(pieces, control));
    const recording = await openRecording(folder);
    onTestFinished(() => recording.close());
    const [section] = (await readTranscript(await openReplayEpisode(recording, SECTION, 'e0'))).sections;
    const vocabulary = (await vocabularyOf(recording, 1)) as Vocabulary;
    return { section, places: tokenPlaces(section, ids, vocabulary) };
  }

  it('stand where their text is shown, in each part of the response', async () => {
    //             <think> I  look\nat </think> look\nat ESC it <tool_call> {"a" :1} </tool_call> <|im_end|>
    const { section, places } = await recorded([8, 0, 1, 9, 1, 2, 3, 10, 4, 5, 11, 12]);
    const texts = places.map(({ token, block, ranges }) => [
      token,
      block,
      ...ranges.map(({ line, start, end }) => section.lines[line].slice(start, end)),
    ]);
    expect(texts).toEqual([
      [1, 'reasoning', 'I '],
      [2, 'reasoning', 'look', 'at'],
      [4, 'text', 'look', 'at'],
      [5, 'text', ' ␛[0m'],
      [6, 'text', 'it'],
      [8, 'action.0', '{"a"'],
      [9, 'action.0', ':1}'],
    ]);
  });

  it('have no place where the text is not what was sampled', async () => {
    const { places } = await recorded([8, 0, 1, 9, 7, 3]);
    expect(places.map(({ block }) => block)).toEqual(['reasoning', 'reasoning']);
  });
});

describe('heat', () => {
  const token = (fields: Partial<ReplayToken>): ReplayToken => ({
    ...{ id: 0, text: 'x', logb: null, logq: null, logp: null, w: null, clipped: null },
    ...fields,
  });
  it('has a step for how unlikely a token was', () => {
    const levels = [0.95, 0.8, 0.3, 0.05, 0.001].map((b) => heatLevel(token({ logb: Math.log(b) }), 'logprob'));
    expect(levels).toEqual([undefined, 'unlikely1', 'unlikely2', 'unlikely3', 'unlikely4']);
    expect([heatLevel(token({}), 'logprob'), heatLevel(token({ logb: -9 }), 'off')]).toEqual([undefined, undefined]);
  });
  it('has steps up and down for what training made of it', () => {
    const of = (ratio: number) => token({ logb: -2, logp: -2 + Math.log(ratio) });
    expect([1, 1.2, 2, 0.8, 0.5].map((ratio) => heatLevel(of(ratio), 'ratio'))).toEqual([
      ...[undefined, 'up1', 'up2', 'down1', 'down2'],
    ]);
    expect(ratioOf(of(2))).toBeCloseTo(2, 12);
    expect(ratioOf(token({ logb: -2 }))).toBeNull();
  });
});
