/**
 * A planner's tokenizer: the byte-level BPE of its folder's tokenizer.json. Plain text never becomes a control token
 * here; control tokens are placed by the chat template alone, so that no observation can forge a message of its own.
 */
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { bytesOfToken } from '../../protocol/byte-alphabet.ts';
import { sha256 } from '../../protocol/random.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { type JsonObject, readJsonObject, readTextFile } from './json-file.ts';
import { requireEnding } from './template-guard.ts';
import { readChatTemplate } from './template-source.ts';
import { type CheckpointWarning, tryTemplate } from './template-trial.ts';
import { type AddedToken, readTokenizerJson } from './tokenizer-json.ts';

export { type BpeVocabulary, trainBpe } from './bpe-training.ts';
export { CONTROL_TOKENS, writeTokenizer } from './tokenizer-files.ts';
export type { AddedToken } from './tokenizer-json.ts';

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
  /** What its owner should know of it, though it can be used. */
  warnings: readonly CheckpointWarning[] = [];
  private readonly tokenizer: Tokenizer;
  private readonly bytes: (Uint8Array | undefined)[];
  private readonly controlIds: Set<number>;
  /** Any added token's name, and any character that begins one. */
  private readonly control: RegExp;
  private readonly controlStart: RegExp;
  private readonly encodings = new Map<string, number[]>();

  constructor(folder: string, tokenizerText: string, config: JsonObject, chatTemplate: string) {
    const file = join(folder, 'tokenizer.json');
    const { json, vocabulary, addedTokens } = readTokenizerJson(file, tokenizerText);
    try {
      this.tokenizer = new Tokenizer(json, {});
    } catch (error) {
      throw new CheckpointError(file, `its normalizer or pre_tokenizer ${unusable(error)}`);
    }
    this.folder = folder;
    this.sha256 = sha256(tokenizerText);
    this.chatTemplate = chatTemplate;
    this.addedTokens = new Map(addedTokens.map((token) => [token.content, token]));
    this.controlIds = new Set(addedTokens.map((token) => token.id));
    this.bytes = [];
    for (const [token, id] of vocabulary) this.bytes[id] = bytesOfToken(token);
    for (const { content, id } of addedTokens) this.bytes[id] = new TextEncoder().encode(content);
    this.size = this.bytes.length;
    const names = [...this.addedTokens.keys()].sort((a, b) => b.length - a.length);
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
    const end = this.addedTokens.get(values.eos_token ?? '')?.id;
    if (end === undefined) {
      const known = vocabulary.has(values.eos_token ?? '');
      throw new CheckpointError(
        join(folder, 'tokenizer_config.json'),
        `eos_token is ${JSON.stringify(config.eos_token) ?? 'missing'}, which is ${known ? 'an ordinary token' : 'no token'} of tokenizer.json and not one of its added_tokens; copy both files from one checkpoint`,
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
      this.encodings.set(detached(text), ids);
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

/** What the library's errors mean: type errors come from fields of a wrong kind, and say nothing of them. */
function unusable(error: unknown): string {
  return error instanceof TypeError
    ? 'has a field of a wrong kind; copy it from the checkpoint again'
    : `cannot be used (${(error as Error).message}); choose a Qwen3 checkpoint with its own tokenizer`;
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
  const text = await readTextFile(file);
  if (text === undefined) throw new CheckpointError(file, `does not exist; ${whatToDo}`);
  const config = await readJsonObject(join(folder, 'tokenizer_config.json'), whatToDo);
  const template = await readChatTemplate(folder, config);
  await requireEnding(template);
  const tokenizer = new PlannerTokenizer(folder, text, config, template.text);
  checkRoundTrip(file, tokenizer);
  const { file: templateFile, note } = template;
  tokenizer.warnings = [
    ...(note === undefined ? [] : [{ file: templateFile, message: note }]),
    ...tryTemplate(tokenizer, template),
  ];
  return tokenizer;
}

/** A text with every kind of character a harness sends, in composed form (NFC), which some tokenizers make of any. */
const SAMPLE =
  "It's at (0.41, -0.12);\r\n\n\theld:  'na\u00efve' \u673a\u5668\u4eba \ud83e\udd16 {\"x\": [1e-3, null]} \u0000";

/** A tokenizer that changes or loses text would show the planner another world, and train it on other words. */
function checkRoundTrip(file: string, tokenizer: PlannerTokenizer): void {
  let back: string;
  try {
    back = tokenizer.decode(tokenizer.encodeText(SAMPLE));
  } catch (error) {
    throw new CheckpointError(file, `its normalizer or pre_tokenizer ${unusable(error)}`);
  }
  if (back === SAMPLE) return;
  throw new CheckpointError(
    file,
    `does not give text back as it was: ${JSON.stringify(SAMPLE)} becomes ${JSON.stringify(back)}; choose a Qwen3 checkpoint with its own tokenizer`,
  );
}

/** A copy of a text on its own: a piece that was cut out of a prompt would keep the whole prompt in memory. */
function detached(text: string): string {
  const copy = Buffer.from(text, 'latin1').toString('latin1');
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le');
}
