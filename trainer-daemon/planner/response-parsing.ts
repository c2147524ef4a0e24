/**
 * From sampled tokens to a message: reasoning between `<think>` and `</think>`, then text, then tool calls. It reads
 * token ids, so text that merely looks like a control token is text. A response that does not parse is not an error:
 * it goes back as plain content, as the planner wrote it.
 */
import type { ResponseMessage, ToolCall } from '../../protocol/chat.ts';
import { sha256 } from '../../protocol/random.ts';
import { isCompact } from './compact-template.ts';
import type { PlannerTokenizer } from './tokenizer.ts';

export interface ParsedResponse extends ResponseMessage {
  /** Why tool calls or reasoning could not be read; `content` then holds the text as written. */
  malformed?: string;
}

/** A run of text, or one control token by its name. */
type Piece = { text: string } | { control: string };

class Malformed extends Error {}

/**
 * @param response sampled ids (an end token at the end is left out), or a whole text in which control tokens stand as
 * their names.
 * @param reasoningOpen whether the prompt already opened the reasoning (see {@link opensReasoning}).
 */
export function parseResponse(
  tokenizer: PlannerTokenizer,
  response: readonly number[] | string,
  reasoningOpen = false,
): ParsedResponse {
  const compact = isCompact(tokenizer.chatTemplate);
  const pieces = typeof response === 'string' ? cutText(tokenizer, response) : cutIds(tokenizer, response);
  const last = pieces.at(-1);
  if (last !== undefined && 'control' in last && last.control === tokenizer.templateValues.eos_token) pieces.pop();
  // Templates other than ours put line breaks around reasoning and calls that belong to neither.
  const trim = (text: string) => (compact ? text : text.replace(/^\n+|\n+$/g, ''));

  let rest = pieces;
  let reasoning: string | undefined;
  const opened = pieces.length > 0 && isControl(pieces[0], '<think>');
  if (opened || reasoningOpen) {
    // A response that was cut short may never close it.
    const close = pieces.findIndex((piece) => isControl(piece, '</think>'));
    reasoning = trim(textOf(pieces.slice(opened ? 1 : 0, close < 0 ? undefined : close)));
    rest = close < 0 ? [] : pieces.slice(close + 1);
  }
  const message: ParsedResponse = { role: 'assistant', content: null };
  if (reasoning !== undefined && reasoning !== '') message.reasoning_content = reasoning;
  try {
    const first = rest.findIndex((piece) => 'control' in piece);
    const content = trim(textOf(first < 0 ? rest : rest.slice(0, first)));
    const calls = first < 0 ? [] : readCalls(rest.slice(first));
    if (content !== '' || calls.length === 0) message.content = content;
    if (calls.length > 0) {
      const origin = sha256(typeof response === 'string' ? response : response.join(' '));
      message.tool_calls = calls.map((call, i) => ({
        id: `call_${origin.slice(0, 20)}${i}`,
        type: 'function',
        function: call,
      }));
    }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    message.content = compact ? textOf(rest) : textOf(rest).replace(/^\n+/, '');
    message.malformed = error.message;
  }
  return message;
}

/** Whether a prompt ends inside the reasoning, as some templates write it. */
export function opensReasoning(tokenizer: PlannerTokenizer, prompt: readonly number[]): boolean {
  const open = tokenizer.addedTokens.get('<think>')?.id;
  return open !== undefined && prompt.findLast((id) => tokenizer.isControl(id)) === open;
}

function isControl(piece: Piece, name: string): boolean {
  return 'control' in piece && piece.control === name;
}

function textOf(pieces: Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : piece.control)).join('');
}

function cutIds(tokenizer: PlannerTokenizer, ids: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  const text = (end: number) => {
    if (end > from) pieces.push({ text: tokenizer.decode(ids.slice(from, end)) });
  };
  ids.forEach((id, i) => {
    if (!tokenizer.isControl(id)) return;
    text(i);
    pieces.push({ control: tokenizer.decode([id]) });
    from = i + 1;
  });
  text(ids.length);
  return pieces;
}

function cutText(tokenizer: PlannerTokenizer, text: string): Piece[] {
  const ids = tokenizer.encodeTemplateOutput(text, '');
  return cutIds(tokenizer, ids);
}

function readCalls(pieces: Piece[]): ToolCall['function'][] {
  const calls: ToolCall['function'][] = [];
  for (let i = 0; i < pieces.length; ) {
    const piece = pieces[i];
    if ('text' in piece) {
      if (piece.text.trim() !== '') throw new Malformed('there is text after a tool call');
      i++;
      continue;
    }
    if (piece.control !== '<tool_call>') throw new Malformed(`${piece.control} stands where a tool call was expected`);
    const body = pieces[i + 1];
    const end = pieces[i + 2];
    if (body === undefined || !('text' in body) || end === undefined || !isControl(end, '</tool_call>')) {
      throw new Malformed('a tool call is not closed by </tool_call>');
    }
    calls.push(readCall(body.text));
    i += 3;
  }
  return calls;
}

/** `NAME{arguments}` (ours) or `{"name": NAME, "arguments": {...}}` (Qwen's); the arguments' text is kept as written. */
function readCall(body: string): ToolCall['function'] {
  const ours = /^([A-Za-z0-9_.:-]{1,128})(\{[\s\S]*\})$/.exec(body);
  if (ours !== null) {
    parseObject(ours[2]);
    return { name: ours[1], arguments: ours[2] };
  }
  const value = parseObject(body);
  if (typeof value.name !== 'string' || value.name === '') throw new Malformed('a tool call has no name');
  const given = value.arguments ?? value.parameters ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) throw new Malformed("a tool call's arguments are no object");
  const written = /^\s*\{\s*"name"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"arguments"\s*:\s*(\{[\s\S]*\})\s*\}\s*$/.exec(
    body,
  )?.[1];
  if (written !== undefined && isObject(written)) return { name: value.name, arguments: written };
  return { name: value.name, arguments: JSON.stringify(given) };
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Malformed(`a tool call is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Malformed("a tool call's arguments are no object");
  }
  return value as Record<string, unknown>;
}

function isObject(text: string): boolean {
  try {
    parseObject(text);
    return true;
  } catch {
    return false;
  }
}
