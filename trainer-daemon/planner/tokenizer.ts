/**
 * A planner's tokenizer: the byte-level BPE of its folder's tokenizer.json. Plain text never becomes a control token
 * here; control tokens are placed by the chat template alone, so that no observation can forge a message of its own.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { sha256 } from '../../protocol/random.ts';
import { bytesOfToken } from './byte-alphabet.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { type JsonObject, readJsonObject } from './json-file.ts';

export { type BpeVocabulary, trainBpe } from './bpe-training.ts';
export { CONTROL_TOKENS, writeTokenizer } from './tokenizer-files.ts';

/** A token that stands outside the BPE: a control token, or one added to the vocabulary later. */
export interface AddedToken {
  id: number;
  content: string;
  /** Marked special: never part of a message's text. Others (`<think>`, `<tool_call>`) are part of it in some tools. */
  special: boolean;
}

/** Segments are short and come again in every turn of an episode: this many encodings are kept. */
const KEPT_ENCODINGS = 4096;
const LONGEST_KEPT = 4096;

export class PlannerTokenizer {
  readonly folder: string;
  /** SHA-256 of tokenizer.json: two planners with the same hash have the same tokenizer. */
  readonly sha256: string;
  /** Largest token id plus one. */
  readonly size: number;
  readonly addedTokens: ReadonlyMap<string, AddedToken>;
  /** The end token's id, as tokenizer_config.json names it (`eos_token`). */
  readonly endTokenId: number;
  /** The chat template's text. */
  readonly chatTemplate: string;
  /** Values a template may use besides the messages (`bos_token`, `eos_token`). */
  readonly templateValues: Readonly<Record<string, string>>;
  private readonly tokenizer: Tokenizer;
  private readonly bytes: (Uint8Array | undefined)[];
  private readonly controlIds: Set<number>;
  /** Any added token's name, and any character that begins one. */
  private readonly control: RegExp;
  private readonly controlStart: RegExp;
  private readonly encodings = new Map<string, number[]>();

  constructor(folder: string, tokenizerText: string, config: JsonObject, chatTemplate: string) {
    const file = join(folder, 'tokenizer.json');
    let json: JsonObject & { added_tokens?: unknown[]; decoder?: JsonObject };
    try {
      json = JSON.parse(tokenizerText);
      this.tokenizer = new Tokenizer(json, config);
    } catch (error) {
      throw new CheckpointError(
        file,
        `cannot be used (${(error as Error).message}); copy it from the checkpoint again`,
      );
    }
    const model = json.model as { type?: unknown } | undefined;
    if (model?.type !== 'BPE' || !JSON.stringify(json.decoder ?? null).includes('"ByteLevel"')) {
      throw new CheckpointError(file, 'is no byte-level BPE, the only kind of tokenizer the embedded planner has');
    }
    this.folder = folder;
    this.sha256 = sha256(tokenizerText);
    this.chatTemplate = chatTemplate;
    this.addedTokens = new Map(
      [...this.tokenizer.get_added_tokens_decoder()].map(([id, token]) => [
        token.content,
        { id, content: token.content, special: token.special },
      ]),
    );
    this.controlIds = new Set([...this.addedTokens.values()].map((token) => token.id));
    this.bytes = [];
    for (const [token, id] of this.tokenizer.get_vocab()) {
      this.bytes[id] = this.controlIds.has(id) ? new TextEncoder().encode(token) : bytesOfToken(token);
    }
    this.size = this.bytes.length;
    const names = [...this.addedTokens.keys()].filter((name) => name !== '').sort((a, b) => b.length - a.length);
    const anyOf = (texts: string[]) =>
      texts.length === 0 ? /(?!)/g : new RegExp(texts.map(escapeRegExp).join('|'), 'g');
    this.control = anyOf(names);
    this.controlStart = anyOf([...new Set(names.map((name) => name[0]))]);

    const nameOf = (value: unknown) =>
      typeof value === 'string' ? value : ((value as { content?: unknown } | null)?.content as string | undefined);
    const values: Record<string, string> = {};
    for (const key of ['bos_token', 'eos_token', 'pad_token', 'unk_token']) {
      const name = nameOf(config[key]);
      if (typeof name === 'string') values[key] = name;
    }
    this.templateValues = values;
    const end = values.eos_token === undefined ? undefined : this.tokenizer.token_to_id(values.eos_token);
    if (end === undefined) {
      throw new CheckpointError(
        join(folder, 'tokenizer_config.json'),
        `eos_token is ${JSON.stringify(config.eos_token)}, which is no token of tokenizer.json; copy both files from one checkpoint`,
      );
    }
    this.endTokenId = end;
  }

  /** Ids of plain text. Never a control token's: `<|im_end|>` in a text is encoded as the characters it is made of. */
  encodeText(text: string): number[] {
    if (text === '') return [];
    const kept = this.encodings.get(text);
    if (kept !== undefined) return kept;
    const normal = this.tokenizer.normalizer === null ? text : apply<string>(this.tokenizer.normalizer, text);
    const pieces =
      this.tokenizer.pre_tokenizer === null
        ? [normal]
        : apply<string[]>(this.tokenizer.pre_tokenizer, normal, { section_index: 0 });
    const ids: number[] = [];
    for (const piece of pieces) this.encodePiece(piece, ids);
    if (text.length <= LONGEST_KEPT) {
      if (this.encodings.size >= KEPT_ENCODINGS) {
        const oldest = this.encodings.keys().next().value;
        if (oldest !== undefined) this.encodings.delete(oldest);
      }
      this.encodings.set(text, ids);
    }
    return ids;
  }

  /**
   * Ids of a template's output, in which control tokens stand as their names and are recognised.
   * @param mark a character inserted into every name that came from a message's text (see {@link protect}); removed here.
   */
  encodeTemplateOutput(output: string, mark: string): number[] {
    const ids: number[] = [];
    let from = 0;
    const text = (end: number) => {
      for (const id of this.encodeText(output.slice(from, end).replaceAll(mark, ''))) ids.push(id);
    };
    for (const match of output.matchAll(this.control)) {
      text(match.index);
      ids.push(this.addedTokens.get(match[0])!.id);
      from = match.index + match[0].length;
    }
    text(output.length);
    return ids;
  }

  /**
   * A text in which no control token is recognised: `mark` follows every character that could begin one, so that no
   * name arises where two texts meet either.
   * @param specialOnly break up only whole names of tokens marked special, and leave the others to the template.
   */
  protect(text: string, mark: string, specialOnly = false): string {
    if (specialOnly) {
      return text.replace(this.control, (name) =>
        this.addedTokens.get(name)!.special ? name[0] + mark + name.slice(1) : name,
      );
    }
    return text.replace(this.controlStart, (character) => character + mark);
  }

  /** Text of tokens, control tokens as their names. Bytes that are no UTF-8 become U+FFFD. */
  decode(ids: Iterable<number>): string {
    const parts: Uint8Array[] = [];
    for (const id of ids) parts.push(this.bytesOf(id));
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(parts));
  }

  /** The bytes of one token; none for an id without a token (vocabularies of checkpoints are padded). */
  bytesOf(id: number): Uint8Array {
    return this.bytes[id] ?? new Uint8Array(0);
  }

  /** Whether an id is a control (added) token's. */
  isControl(id: number): boolean {
    return this.controlIds.has(id);
  }

  /** @throws CheckpointError when the model has no embedding for some token. */
  checkFits(vocabulary: number): void {
    if (this.size > vocabulary) {
      throw new CheckpointError(
        join(this.folder, 'tokenizer.json'),
        `foreign tokenizer: it has token ids up to ${this.size - 1}, the model's vocab_size is ${vocabulary}; copy both from one checkpoint`,
      );
    }
  }

  private encodePiece(piece: string, ids: number[]): void {
    for (const token of apply<string[]>(this.tokenizer.model, [piece])) {
      const id = this.tokenizer.token_to_id(token);
      if (id !== undefined && !this.controlIds.has(id)) ids.push(id);
      else for (const character of token) ids.push(...this.idsOfCharacter(character));
    }
  }

  /** A vocabulary may hold a control token's name whole (`ignore_merges`): then the characters stand alone. */
  private idsOfCharacter(character: string): number[] {
    const id = this.tokenizer.token_to_id(character);
    return id === undefined || this.controlIds.has(id) ? [] : [id];
  }
}

/** The library's parts are callable objects whose call signature its types leave out. */
function apply<T>(part: unknown, ...values: unknown[]): T {
  return (part as (...values: unknown[]) => T)(...values);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Reads tokenizer.json, tokenizer_config.json and the chat template of a checkpoint folder.
 * @throws CheckpointError with the file at fault.
 */
export async function loadTokenizer(folder: string): Promise<PlannerTokenizer> {
  const whatToDo = "copy it from the checkpoint's tokenizer";
  const file = join(folder, 'tokenizer.json');
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new CheckpointError(file, `cannot be read (${error.code}); ${whatToDo}`);
  });
  const config = await readJsonObject(join(folder, 'tokenizer_config.json'), whatToDo);
  return new PlannerTokenizer(folder, text, config, await readChatTemplate(folder, config));
}

/** chat_template.jinja rules over tokenizer_config.json's `chat_template`, a text or a list of named ones. */
async function readChatTemplate(folder: string, config: JsonObject): Promise<string> {
  const own = await readFile(join(folder, 'chat_template.jinja'), 'utf8').catch(() => undefined);
  if (own !== undefined) return own;
  let value = config.chat_template;
  if (Array.isArray(value)) {
    const named = (name: string) => (value as JsonObject[]).find((entry) => entry?.name === name)?.template;
    value = named('tool_use') ?? named('default');
  }
  if (typeof value === 'string') return value;
  throw new CheckpointError(
    join(folder, 'chat_template.jinja'),
    "does not exist, and tokenizer_config.json has no chat_template; a base model has none: copy an instruction-tuned checkpoint's",
  );
}
