/**
 * A tokenizer.json checked before it is used: a byte-level BPE whose tables belong together. Ids may have holes, as
 * in vocabularies that were pruned or padded: an id without a token is never encoded, and decodes to nothing.
 */
import { BYTE_CHARACTERS } from '../../protocol/byte-alphabet.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { type JsonObject, parseJsonObject } from './json-file.ts';

/** A token that stands outside the BPE: a control token, or one added to the vocabulary later. */
export interface AddedToken {
  id: number;
  content: string;
  /** Marked special: never part of a message's text. Others (`<think>`, `<tool_call>`) are part of it in some tools. */
  special: boolean;
}

export interface TokenizerTables {
  /** What the tokenizer library takes of the file. */
  json: JsonObject;
  /** Tokens of the BPE and their ids, in the byte alphabet. */
  vocabulary: Map<string, number>;
  addedTokens: AddedToken[];
}

/** Beyond this no embedding table could follow. */
const LARGEST_ID = 10_000_000;
const AGAIN = 'copy it from the checkpoint again';

/**
 * @param file the name for messages.
 * @throws CheckpointError when the file is damaged or another kind of tokenizer.
 */
export function readTokenizerJson(file: string, text: string): TokenizerTables {
  const json = parseJsonObject(file, text);
  const model = json.model;
  if (typeof model !== 'object' || model === null || Array.isArray(model)) {
    throw new CheckpointError(file, `has no "model"; ${AGAIN}`);
  }
  const { type, vocab, merges } = model as JsonObject;
  // Files of old versions name no type; only a BPE has merges.
  const kind = type ?? (merges === undefined ? 'unnamed' : 'BPE');
  if (kind !== 'BPE' || !mentions(json.decoder, 'ByteLevel') || !mentions(json.pre_tokenizer, 'ByteLevel')) {
    const found = kind === 'BPE' ? 'a BPE without the byte alphabet' : `of type ${JSON.stringify(kind)}`;
    throw new CheckpointError(
      file,
      `is no byte-level BPE (it is ${found}), the only kind of tokenizer the embedded planner has; choose a Qwen3 checkpoint with its own tokenizer`,
    );
  }
  checkPart(file, 'pre_tokenizer', json.pre_tokenizer);
  if (json.normalizer !== undefined && json.normalizer !== null) checkPart(file, 'normalizer', json.normalizer);
  const vocabulary = readVocabulary(file, vocab);
  checkMerges(file, merges, vocabulary);
  const addedTokens = readAddedTokens(file, json.added_tokens ?? [], vocabulary);
  return { json: forLibrary(json, { ...(model as JsonObject), type: kind }, addedTokens), vocabulary, addedTokens };
}

/** The parts the library is used for: splitting text into pieces and merging. Decoding is done from the tables. */
function forLibrary(json: JsonObject, model: JsonObject, addedTokens: AddedToken[]): JsonObject {
  const { normalizer, pre_tokenizer } = json;
  return {
    model,
    normalizer: normalizer ?? null,
    pre_tokenizer,
    post_processor: null,
    decoder: null,
    added_tokens: addedTokens,
  };
}

function mentions(value: unknown, type: string): boolean {
  return JSON.stringify(value ?? null).includes(`"type":"${type}"`);
}

/** A normalizer or pre-tokenizer has a type; one that is a sequence has parts. */
function checkPart(file: string, name: string, value: unknown): void {
  const part = (typeof value === 'object' ? (value ?? {}) : {}) as JsonObject;
  if (typeof part.type !== 'string')
    throw new CheckpointError(file, `${name} is ${shown(value)}, without a type; ${AGAIN}`);
  const list = part.type !== 'Sequence' ? [] : (part.pretokenizers ?? part.normalizers);
  if (!Array.isArray(list)) throw new CheckpointError(file, `${name} is a Sequence without a list of parts; ${AGAIN}`);
  for (const [i, inner] of list.entries()) checkPart(file, `${name}[${i}]`, inner);
}

function readVocabulary(file: string, vocab: unknown): Map<string, number> {
  if (typeof vocab !== 'object' || vocab === null || Array.isArray(vocab)) {
    throw new CheckpointError(file, `model.vocab is no table of tokens and ids; ${AGAIN}`);
  }
  const vocabulary = new Map<string, number>();
  const tokenOf = new Map<number, string>();
  for (const [token, id] of Object.entries(vocab)) {
    if (!isId(id)) throw new CheckpointError(file, `the token ${shown(token)} has the id ${shown(id)}; ${AGAIN}`);
    const other = tokenOf.get(id);
    if (other !== undefined) {
      throw new CheckpointError(
        file,
        `the tokens ${shown(other)} and ${shown(token)} have the same id ${id}; ${AGAIN}`,
      );
    }
    tokenOf.set(id, token);
    vocabulary.set(token, id);
  }
  const byte = BYTE_CHARACTERS.findIndex((character) => !vocabulary.has(character));
  if (byte >= 0) {
    throw new CheckpointError(
      file,
      `has no token for the byte 0x${byte.toString(16).padStart(2, '0')} (${shown(BYTE_CHARACTERS[byte])}), so text would be lost; ${AGAIN}`,
    );
  }
  return vocabulary;
}

/** A merge is `"a b"` or, in newer files, `["a", "b"]`; its parts and its result are tokens. */
function checkMerges(file: string, merges: unknown, vocabulary: Map<string, number>): void {
  if (!Array.isArray(merges)) throw new CheckpointError(file, `model.merges is no list; ${AGAIN}`);
  const pairs = Array.isArray(merges[0]);
  merges.forEach((merge, i) => {
    const parts: unknown = typeof merge === 'string' && !pairs ? merge.split(' ') : merge;
    const isPair = Array.isArray(parts) && parts.length === 2 && parts.every((part) => typeof part === 'string');
    if (!isPair) throw new CheckpointError(file, `merge ${i + 1} is ${shown(merge)}, no pair of tokens; ${AGAIN}`);
    const [left, right] = parts as [string, string];
    const missing = [left, right, left + right].find((token) => !vocabulary.has(token));
    if (missing !== undefined) {
      throw new CheckpointError(
        file,
        `merge ${i + 1} is ${shown(merge)}, and ${shown(missing)} is no token of model.vocab; ${AGAIN}`,
      );
    }
  });
}

function readAddedTokens(file: string, list: unknown, vocabulary: Map<string, number>): AddedToken[] {
  if (!Array.isArray(list)) throw new CheckpointError(file, `added_tokens is no list; ${AGAIN}`);
  const tokenOf = new Map([...vocabulary].map(([token, id]) => [id, token]));
  const added = new Map<string, AddedToken>();
  for (const [i, entry] of list.entries()) {
    const { id, content, special } = (entry ?? {}) as Record<string, unknown>;
    if (!isId(id) || typeof content !== 'string' || content === '') {
      throw new CheckpointError(
        file,
        `added_tokens[${i}] is ${shown(entry)}, without a valid id and content; ${AGAIN}`,
      );
    }
    if (BYTE_CHARACTERS.includes(content)) {
      throw new CheckpointError(
        file,
        `added_tokens[${i}] is ${shown(content)}, which would no longer be text wherever it occurs; ${AGAIN}`,
      );
    }
    const holder = tokenOf.get(id) ?? content;
    const own = added.get(content)?.id ?? vocabulary.get(content) ?? id;
    if (holder !== content || own !== id) {
      throw new CheckpointError(
        file,
        holder !== content
          ? `the tokens ${shown(holder)} and ${shown(content)} have the same id ${id}; ${AGAIN}`
          : `the token ${shown(content)} has two ids, ${own} and ${id}; ${AGAIN}`,
      );
    }
    tokenOf.set(id, content);
    added.set(content, { id, content, special: special === true });
  }
  return [...added.values()];
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LARGEST_ID;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
