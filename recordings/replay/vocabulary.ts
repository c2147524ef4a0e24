/** The texts of token ids, from the tokenizer that lies with the policies of a run. */
import { join } from 'node:path';
import { z } from 'zod';
import { bytesOfToken } from '../../protocol/byte-alphabet.ts';
import { policySection } from '../../protocol/ids.ts';
import { parseJson } from '../documents.ts';
import { readPlainFile } from '../plain-file.ts';
import type { Recording } from '../recording.ts';

const tokenizerSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.number().int().nonnegative(), content: z.string() })).default([]),
  model: z.looseObject({ vocab: z.record(z.string(), z.number().int().nonnegative()) }),
});

export class Vocabulary {
  /** As tokenizer.json has them. */
  private readonly tokens: ReadonlyMap<number, string>;
  /** Written as they are: control tokens, mostly. */
  private readonly added: ReadonlySet<number>;

  private constructor(tokens: ReadonlyMap<number, string>, added: ReadonlySet<number>) {
    this.tokens = tokens;
    this.added = added;
  }

  /** Reads the text of a tokenizer.json; undefined when it is none with a vocabulary of texts. */
  static parse(bytes: Uint8Array): Vocabulary | undefined {
    const parsed = parseJson(bytes, 0);
    if ('damaged' in parsed) return undefined;
    const checked = tokenizerSchema.safeParse(parsed.value);
    if (!checked.success) return undefined;
    const { added_tokens: added, model } = checked.data;
    const tokens = new Map(Object.entries(model.vocab).map(([token, id]) => [id, token]));
    for (const { id, content } of added) tokens.set(id, content);
    return new Vocabulary(tokens, new Set(added.map(({ id }) => id)));
  }

  /** What a token stands for; a part of a character shows as U+FFFD. Null for an id that there is not. */
  text(id: number): string | null {
    return this.tokens.has(id) ? this.decode([id]).text : null;
  }

  /**
   * The text of a sequence. `ends` tells for each token where its text ends; a character of several tokens belongs to the last
   * of them. An id that there is not stands as U+FFFD.
   */
  decode(ids: readonly number[]): { text: string; ends: number[] } {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const pieces: string[] = [];
    const ends: number[] = [];
    let end = 0;
    const add = (piece: string) => {
      pieces.push(piece);
      end += piece.length;
    };
    for (const id of ids) {
      const token = this.tokens.get(id);
      const bytes = token === undefined || this.added.has(id) ? undefined : bytesOfToken(token);
      if (bytes) add(decoder.decode(bytes, { stream: true }));
      else {
        add(decoder.decode());
        add(token === undefined ? '\ufffd' : this.added.has(id) ? token : token.replaceAll('▁', ' '));
      }
      ends.push(end);
    }
    add(decoder.decode());
    if (ends.length > 0) ends[ends.length - 1] = end;
    return { text: pieces.join(''), ends };
  }
}

const read = new WeakMap<Recording, Map<string, Promise<Vocabulary | undefined>>>();

/**
 * The vocabulary of the policy that answered. All policies of a run have one tokenizer, so another one's does where its
 * own was pruned. Undefined for a teacher that is no policy of the run, and where there is none to be read.
 */
export async function vocabularyOf(
  recording: Recording,
  policyVersion: number | null,
): Promise<Vocabulary | undefined> {
  if (policyVersion === null) return undefined;
  for (const folder of [policySection(policyVersion), policySection(0), policySection(1)]) {
    const found = await vocabularyIn(recording, `${folder}/tokenizer.json`);
    if (found) return found;
  }
  return undefined;
}

function vocabularyIn(recording: Recording, path: string): Promise<Vocabulary | undefined> {
  const known = read.get(recording) ?? new Map<string, Promise<Vocabulary | undefined>>();
  read.set(recording, known);
  let found = known.get(path);
  if (!found) {
    const root = recording.directory;
    found = readPlainFile(root, join(root, path)).then((bytes) => {
      // It may still be written.
      if (!Buffer.isBuffer(bytes)) known.delete(path);
      return Buffer.isBuffer(bytes) ? Vocabulary.parse(bytes) : undefined;
    });
    known.set(path, found);
  }
  return found;
}
