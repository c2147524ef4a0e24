import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CheckpointError } from '../../../../trainer-daemon/planner/checkpoint-error.ts';
import { loadTokenizer } from '../../../../trainer-daemon/planner/tokenizer.ts';
import { tinyPlanner } from './tiny-planner.ts';

interface TokenizerJson {
  model: { type?: string; vocab: Record<string, unknown>; merges: unknown[] } & Record<string, unknown>;
  added_tokens: ({ id: number; content: string; special: boolean } & Record<string, unknown>)[];
  [key: string]: unknown;
}

let folder: string;
let sound: string;
beforeAll(async () => {
  folder = await tinyPlanner();
  sound = await readFile(join(folder, 'tokenizer.json'), 'utf8');
});

/** Loads the planner's tokenizer with a change made to its tokenizer.json. */
async function loadChanged(change: (json: TokenizerJson) => unknown) {
  const json = JSON.parse(sound) as TokenizerJson;
  const other = change(json);
  await writeFile(join(folder, 'tokenizer.json'), typeof other === 'string' ? other : JSON.stringify(json));
  return loadTokenizer(folder);
}

describe('a tokenizer.json with holes in its ids', () => {
  it('is used: the rest encodes as before, and an id without a token decodes to nothing', async () => {
    const text = 'Put the red block into the bowl <|im_end|>';
    const before = (await loadChanged(() => {})).encodeText(text);
    const tokenizer = await loadChanged((json) => {
      // Control tokens move 25 ids up, as in a vocabulary padded between its parts.
      for (const token of json.added_tokens) token.id += 25;
    });
    expect(tokenizer.size).toBe(385);
    expect(tokenizer.encodeText(text)).toEqual(before);
    expect(tokenizer.decode([before[0], 351, 360, 375, before[1]])).toBe(tokenizer.decode(before.slice(0, 2)));
    expect([...tokenizer.bytesOf(355)]).toEqual([]);
    expect(tokenizer.isControl(355)).toBe(false);
    expect(tokenizer.decode([tokenizer.endTokenId])).toBe('<|im_end|>');
    expect(() => tokenizer.checkFits(384)).toThrow('token ids up to 384');
  });

  it('is used when a token in the middle is gone with the merges that need it', async () => {
    const tokenizer = await loadChanged(({ model }) => {
      const merge = model.merges.pop() as string;
      delete model.vocab[merge.replace(' ', '')];
    });
    expect(tokenizer.size).toBe(360);
    expect(tokenizer.decode(tokenizer.encodeText('the red block'))).toBe('the red block');
    expect([...tokenizer.bytesOf(350)]).toEqual([]);
  });
});

describe('a damaged tokenizer.json is refused in one sentence', () => {
  it.each<[string, (json: TokenizerJson) => unknown, string]>([
    ['cut short', () => sound.slice(0, 5000), 'is not JSON'],
    ['empty', () => '', 'is not JSON (it ends too early)'],
    ['a list', () => '[]', 'holds no JSON object'],
    ['no model', (json) => delete (json as Record<string, unknown>).model, 'has no "model"'],
    [
      'another kind',
      ({ model }) => {
        model.type = 'Unigram';
      },
      'is no byte-level BPE (it is of type "Unigram")',
    ],
    [
      'no byte alphabet',
      (json) => {
        json.decoder = null;
      },
      'a BPE without the byte alphabet',
    ],
    [
      'no pre-tokenizer',
      (json) => {
        json.pre_tokenizer = null;
      },
      'a BPE without the byte alphabet',
    ],
    [
      'a vocabulary list',
      ({ model }) => {
        model.vocab = ['a'] as never;
      },
      'model.vocab is no table',
    ],
    [
      'no vocabulary',
      ({ model }) => {
        model.vocab = null as never;
      },
      'model.vocab is no table',
    ],
    [
      'an id that is none',
      ({ model }) => {
        model.vocab.a = '97';
      },
      'the token "a" has the id "97"',
    ],
    [
      'a negative id',
      ({ model }) => {
        model.vocab.a = -1;
      },
      'the token "a" has the id -1',
    ],
    [
      'an enormous id',
      ({ model }) => {
        model.vocab.a = 4e15;
      },
      'the token "a" has the id 4000000000000000',
    ],
    [
      'an id twice',
      ({ model }) => {
        model.vocab.a = model.vocab.b;
      },
      'have the same id',
    ],
    [
      'a missing byte',
      ({ model }) => {
        delete model.vocab.Q;
        model.merges = [];
      },
      'has no token for the byte 0x51 ("Q")',
    ],
    [
      'no merges',
      ({ model }) => {
        model.merges = null as never;
      },
      'model.merges is no list',
    ],
    [
      'a merge of three',
      ({ model }) => {
        model.merges[2] = 'a b c';
      },
      'merge 3 is "a b c", no pair of tokens',
    ],
    [
      'a merge of null',
      ({ model }) => {
        model.merges[0] = null;
      },
      'merge 1 is null',
    ],
    [
      'a merge without its token',
      ({ model }) => {
        model.merges[0] = 'Q Z';
      },
      '"QZ" is no token of model.vocab',
    ],
    [
      'added tokens that are none',
      (json) => {
        json.added_tokens = {} as never;
      },
      'added_tokens is no list',
    ],
    [
      'a null added token',
      (json) => {
        json.added_tokens[1] = null as never;
      },
      'added_tokens[1] is null',
    ],
    [
      'an added token without a name',
      (json) => {
        json.added_tokens[0].content = '';
      },
      'without a valid id and content',
    ],
    [
      'an added id that is taken',
      (json) => {
        json.added_tokens[0].id = 97;
      },
      'have the same id 97',
    ],
    [
      'added ids twice',
      (json) => {
        json.added_tokens[0].id = json.added_tokens[1].id;
      },
      'have the same id',
    ],
    [
      'an added token with two ids',
      (json) => {
        json.added_tokens.push({ ...json.added_tokens[0], id: 400 });
      },
      'has two ids',
    ],
    [
      'a bad pattern',
      (json) => {
        json.pre_tokenizer = {
          type: 'Sequence',
          pretokenizers: [
            { type: 'Split', pattern: { Regex: '(((' }, behavior: 'Isolated', invert: false },
            { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
          ],
        };
      },
      'tokenizer.json: its normalizer or pre_tokenizer cannot be used',
    ],
    [
      'an unknown normalizer',
      (json) => {
        json.normalizer = { type: 'Rot13' };
      },
      'its normalizer or pre_tokenizer cannot be used (Unknown Normalizer type: Rot13)',
    ],
    [
      'a lossy normalizer',
      (json) => {
        json.normalizer = { type: 'Lowercase' };
      },
      'does not give text back as it was',
    ],
    [
      'a space put first',
      (json) => {
        json.pre_tokenizer = { type: 'ByteLevel', add_prefix_space: true, use_regex: true };
      },
      'does not give text back as it was',
    ],
    [
      'a normalizer without a type',
      (json) => {
        json.normalizer = {};
      },
      'normalizer is {}, without a type',
    ],
    [
      'a sequence with a part of nothing',
      ({ pre_tokenizer }) => {
        (pre_tokenizer as { pretokenizers: unknown[] }).pretokenizers.push(null);
      },
      'pre_tokenizer[2] is null, without a type',
    ],
    [
      'a field of a wrong kind',
      ({ pre_tokenizer }) => {
        (pre_tokenizer as { pretokenizers: Record<string, unknown>[] }).pretokenizers[0].behavior = 5;
      },
      'its normalizer or pre_tokenizer has a field of a wrong kind',
    ],
    [
      'a letter among the added tokens',
      (json) => {
        json.added_tokens.push({ id: 90 - 33, content: 'Z', special: false });
      },
      'added_tokens[9] is "Z", which would no longer be text',
    ],
    [
      'no end token',
      (json) => {
        json.added_tokens = json.added_tokens.filter(({ content }) => content !== '<|im_end|>');
      },
      'eos_token is "<|im_end|>", which is no token of tokenizer.json',
    ],
  ])('%s', async (_what, change, words) => {
    const error = await loadChanged(change).catch((e) => e);
    expect(error).toBeInstanceOf(CheckpointError);
    expect(error.message).toContain(words);
    expect(error.message).toContain(folder);
  });

  it('takes no ordinary token for the end token', async () => {
    await writeFile(join(folder, 'tokenizer.json'), sound);
    await writeFile(join(folder, 'tokenizer_config.json'), '{"eos_token": "a", "chat_template": "x"}');
    await expect(loadTokenizer(folder)).rejects.toThrow('eos_token is "a", which is an ordinary token');
  });
});
