/** The README's pictures: there, small, and what was on the screen. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
const LARGEST = 150_000;

describe('the pictures of the README', () => {
  const shown = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^!\[([^\]]+)\]\((.+)\)$/gm)];

  it('are there, small, and all of them are shown, with words for who cannot see them', () => {
    expect(shown.map(([, , path]) => path).toSorted()).toEqual(
      readdirSync(join(ROOT, 'docs/images'))
        .map((name) => `docs/images/${name}`)
        .toSorted(),
    );
    for (const [, words, path] of shown) {
      expect(words.length).toBeGreaterThan(20);
      expect(statSync(join(ROOT, path)).size, path).toBeLessThan(LARGEST);
      expect(PNG.sync.read(readFileSync(join(ROOT, path))).width).toBe(1200);
    }
  });

  it('keep their colours in a palette', async () => {
    const { indexedPng } = (await import(join(ROOT, 'scripts/screenshots/indexed-png.mjs'))) as {
      indexedPng(bytes: Uint8Array): Buffer;
    };
    const picture = new PNG({ width: 37, height: 5 });
    for (let k = 0; k < picture.data.length; k += 4) picture.data.set([(k / 4) % 2 ? 248 : 0, 128, 64, 255], k);
    const small = PNG.sync.read(indexedPng(PNG.sync.write(picture)));
    expect([small.width, small.height]).toEqual([37, 5]);
    for (const [k, value] of small.data.entries()) expect(Math.abs(value - picture.data[k])).toBeLessThan(9);
    expect(() => indexedPng(Buffer.from('no picture'))).toThrow();
  });
});
