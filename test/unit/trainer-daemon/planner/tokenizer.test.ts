import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfToken } from '../../../../protocol/byte-alphabet.ts';
import { sha256 } from '../../../../protocol/random.ts';
import { readCheckpoint } from '../../../../trainer-daemon/planner/checkpoint.ts';
import { architectureOf, initialisePlanner } from '../../../../trainer-daemon/planner/initialise.ts';
import { CONTROL_TOKENS, loadTokenizer, trainBpe } from '../../../../trainer-daemon/planner/tokenizer.ts';
import { corpus, tinyInit, tinyPlanner } from './tiny-planner.ts';

const text = (token: string) => new TextDecoder().decode(bytesOfToken(token));

describe('trainBpe', () => {
  it('merges the most frequent pair first, ties to the smaller ids (worked by hand)', () => {
    // Pieces: "aab" x2, "ab" x1 (each text is one piece). Pairs: (a,a) 2, (a,b) 3. First "ab"; then the words are
    // a+ab x2 and ab: (a,ab) 2 -> "aab"; nothing is left to merge.
    const { tokens, merges } = trainBpe(['aab', 'aab', 'ab'], 300);
    expect(tokens.slice(256).map(text)).toEqual(['ab', 'aab']);
    expect(merges).toEqual([
      [97, 98],
      [97, 256],
    ]);
  });

  it('never merges across pieces, and keeps digits and line breaks single', () => {
    const { tokens } = trainBpe(Array(50).fill('x = 1234\n\n  y'), 400);
    const merged = tokens.slice(256).map(text);
    expect(merged).toContain(' =');
    for (const token of merged) expect(token).not.toMatch(/\d|\n|x /);
  });

  it('is deterministic', () => {
    expect(trainBpe(corpus, 500)).toEqual(trainBpe([...corpus].reverse(), 500));
  });
});

describe('a fresh planner', () => {
  it('has the files, sizes and end tokens asked for', async () => {
    const folder = await tinyPlanner();
    const checkpoint = await readCheckpoint(folder);
    expect(checkpoint.architecture).toMatchObject({ layers: 2, headDim: 16, vocabulary: 360, tiedEmbeddings: true });
    const tokenizer = await loadTokenizer(folder);
    expect(tokenizer.size).toBe(360);
    expect(tokenizer.sha256).toBe(sha256(await readFile(join(folder, 'tokenizer.json'), 'utf8')));
    expect(checkpoint.endTokenIds[0]).toBe(tokenizer.endTokenId);
    tokenizer.checkFits(360);
    expect(() => tokenizer.checkFits(359)).toThrow('foreign tokenizer');
    // Deviation 0.02 within four standard errors of an estimate from n values, 0.02 / sqrt(2 n).
    const embed = checkpoint.weights.flat.subarray(0, 360 * 64);
    const deviation = Math.sqrt(embed.reduce((sum, x) => sum + x * x, 0) / embed.length);
    expect(Math.abs(deviation - 0.02)).toBeLessThan((4 * 0.02) / Math.sqrt(2 * embed.length));
  });

  it('is the same for the same seed and another for another', async () => {
    const [a, b, c] = await Promise.all([tinyPlanner(3), tinyPlanner(3), tinyPlanner(4)]);
    const read = (folder: string) => readFile(join(folder, 'model.safetensors'));
    expect(await read(a)).toEqual(await read(b));
    expect(await read(a)).not.toEqual(await read(c));
  });

  it('shrinks its vocabulary to what a small corpus gives', async () => {
    const folder = await tinyPlanner();
    const architecture = await initialisePlanner(folder, { ...tinyInit, vocabulary: 5000 }, ['red block'], 1);
    expect(architecture.vocabulary).toBeLessThan(360);
    (await loadTokenizer(folder)).checkFits(architecture.vocabulary);
    await readCheckpoint(folder);
  });

  it.each([
    [{ hidden: 200 }, 'multiple of 16'],
    [{ heads: 3 }, 'heads of 4, 2, 1'],
    [{ kvHeads: 3 }, 'kvHeads'],
    [{ vocabulary: 260 }, '265'],
  ])('refuses %j', (change, words) => {
    expect(() => architectureOf({ ...tinyInit, ...change })).toThrow(words);
  });
});

describe('PlannerTokenizer', () => {
  it('round-trips any text and never makes a control token of it', async () => {
    const tokenizer = await loadTokenizer(await tinyPlanner());
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc
        .array(fc.constantFrom(...CONTROL_TOKENS, '\n', ' ', 'red', '<', '|im_end|>', '12', '\u{feff}', '__proto__'), {
          maxLength: 12,
        })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(anyText, (value) => {
        const ids = tokenizer.encodeText(value);
        expect(ids.some((id) => tokenizer.isControl(id))).toBe(false);
        expect(tokenizer.decode(ids)).toBe(value);
      }),
      { numRuns: 300 },
    );
  });

  it('uses the merges of training: common words are one token, and it agrees with a plain BPE', async () => {
    const tokenizer = await loadTokenizer(await tinyPlanner());
    expect(tokenizer.encodeText('assistant')).toHaveLength(1);
    expect(tokenizer.encodeText(' block')).toHaveLength(1);
    // Independent encoding: apply the merges in order of training to the bytes of each piece.
    const { tokens, merges } = trainBpe(
      [
        ...corpus,
        ...corpus.map(() => 'system\nuser\nassistant\nTools'),
        'system\nuser\nassistant\nTools',
        'system\nuser\nassistant\nTools',
      ],
      360 - CONTROL_TOKENS.length,
    );
    expect(tokens).toHaveLength(351);
    for (const word of ['gripper', ' holding', 'reachable', ' unknown', 'ob']) {
      let ids = [...new TextEncoder().encode(word)];
      merges.forEach(([left, right], rank) => {
        const next: number[] = [];
        for (let i = 0; i < ids.length; i++) {
          if (ids[i] === left && ids[i + 1] === right) {
            next.push(256 + rank);
            i++;
          } else next.push(ids[i]);
        }
        ids = next;
      });
      expect(tokenizer.encodeText(word)).toEqual(ids);
    }
  });

  it('does not keep the prompts whose pieces it has encoded', async () => {
    const tokenizer = await loadTokenizer(await tinyPlanner());
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    // 400 MB of prompts.
    for (let i = 0; i < 400; i++) {
      const prompt = Buffer.alloc(1_000_000, 'x').toString('latin1');
      const piece = `${i} `.padEnd(20, '-');
      tokenizer.encodeText((prompt.slice(0, 20) + piece + prompt).slice(20, 40));
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
  });

  it('says what is wrong with its files', async () => {
    const folder = await tinyPlanner();
    await cp(join(folder, 'tokenizer.json'), join(folder, 'kept'));
    await writeFile(join(folder, 'tokenizer.json'), '{"model": {}}');
    await expect(loadTokenizer(folder)).rejects.toThrow('tokenizer.json: is no byte-level BPE');
    await cp(join(folder, 'kept'), join(folder, 'tokenizer.json'));
    await writeFile(join(folder, 'tokenizer_config.json'), '{"eos_token": "</s>"}');
    await expect(loadTokenizer(folder)).rejects.toThrow('eos_token is "</s>"');
    await expect(loadTokenizer(join(folder, 'absent'))).rejects.toThrow('tokenizer.json: does not exist');
  });
});
