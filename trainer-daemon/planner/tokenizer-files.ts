/** A trained vocabulary as the files other tools read: tokenizer.json, tokenizer_config.json, chat_template.jinja. */
import { join } from 'node:path';
import { BYTE_CHARACTERS } from '../../protocol/byte-alphabet.ts';
import { type BpeVocabulary, PIECE_PATTERN } from './bpe-training.ts';
import { replaceFile } from './checkpoint.ts';

/** Ends a document; also fills unused places. */
export const END_OF_TEXT = '<|endoftext|>';
/** Opens a message. */
export const MESSAGE_START = '<|im_start|>';
/** Ends a message: the token a response stops on. */
export const MESSAGE_END = '<|im_end|>';

/** Control tokens of a planner of our own, in the order of their ids, which follow those of the vocabulary. */
export const CONTROL_TOKENS: readonly string[] = [
  END_OF_TEXT,
  MESSAGE_START,
  MESSAGE_END,
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
  '<tool_response>',
  '</tool_response>',
];

/** Writes the tokenizer's files into an existing folder. Ids: the vocabulary's own, then {@link CONTROL_TOKENS}. */
export async function writeTokenizer(
  folder: string,
  vocabulary: BpeVocabulary,
  context: number,
  chatTemplate: string,
): Promise<void> {
  const { tokens, merges } = vocabulary;
  const added = CONTROL_TOKENS.map((content, i) => ({
    id: tokens.length + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: content.startsWith('<|'),
  }));
  // Without a prototype, so that a token named like one of its members is an entry like any other.
  const vocab: Record<string, number> = Object.create(null);
  tokens.forEach((token, id) => {
    vocab[token] = id;
  });
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: PIECE_PATTERN }, behavior: 'Isolated', invert: false },
        byteLevel,
      ],
    },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab,
      merges: merges.map(([left, right]) => `${tokens[left]} ${tokens[right]}`),
    },
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: null,
    eos_token: MESSAGE_END,
    pad_token: END_OF_TEXT,
    unk_token: null,
    model_max_length: context,
    clean_up_tokenization_spaces: false,
    added_tokens_decoder: Object.fromEntries(added.map(({ id, ...token }) => [String(id), token])),
    chat_template: chatTemplate,
  };
  await replaceFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer, null, 1) + '\n');
  await replaceFile(join(folder, 'tokenizer_config.json'), JSON.stringify(config, null, 2) + '\n');
  await replaceFile(join(folder, 'chat_template.jinja'), chatTemplate);
}

/** Tokens a vocabulary has at least: the bytes and the control tokens. */
export const SMALLEST_VOCABULARY = BYTE_CHARACTERS.length + CONTROL_TOKENS.length;
