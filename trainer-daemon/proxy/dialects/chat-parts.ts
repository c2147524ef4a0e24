/** Building blocks of chat messages, as the dialects with messages of their own make them. */
import { RefusedRequest } from './contract.ts';
import type { RequestPart } from './request-part.ts';

export type ChatPart = Record<string, unknown> & { type: string };
export type ChatMessage = Record<string, unknown> & { role: string };

export const textPart = (text: string): ChatPart => ({ type: 'text', text });

export const imagePart = (url: string, detail?: string): ChatPart => ({
  type: 'image_url',
  image_url: detail === undefined ? { url } : { url, detail },
});

export const filePart = (file: Record<string, unknown>): ChatPart => ({ type: 'file', file });

/** Content of a user's or tool's message: a lone text as it is, everything else as parts. */
export function contentOf(parts: ChatPart[]): string | ChatPart[] {
  if (parts.length === 0) return '';
  return parts.length === 1 && parts[0].type === 'text' ? (parts[0].text as string) : parts;
}

/** An assistant's message in the form in which chat servers answer. */
export function assistantMessage(
  content: string,
  reasoning: string,
  calls: { id: string; name: string; arguments: string }[],
): ChatMessage {
  const message: ChatMessage = { role: 'assistant', content: content === '' && calls.length > 0 ? null : content };
  if (reasoning !== '') message.reasoning_content = reasoning;
  if (calls.length > 0) message.tool_calls = calls.map(({ id, ...fn }) => ({ id, type: 'function', function: fn }));
  return message;
}

/** Joins system messages at the head, because many chat templates take only one. */
export function joinSystem(messages: ChatMessage[]): ChatMessage[] {
  let count = 0;
  while (messages[count]?.role === 'system') count++;
  if (count < 2) return messages;
  const contents = messages.slice(0, count).map(({ content }) => content as string | ChatPart[]);
  const content = contents.every((each) => typeof each === 'string')
    ? contents.join('\n\n')
    : contents.flatMap((each) => (typeof each === 'string' ? [textPart(each)] : each));
  return [{ role: 'system', content }, ...messages.slice(count)];
}

/** @throws RefusedRequest when a tool is named that is not among the tools. */
export function namedTool(name: string, tools: { function: { name: string } }[], path: string) {
  if (!tools.some((tool) => tool.function.name === name))
    throw new RefusedRequest('invalid_request', `${path} names "${name}", which is none of the tools offered`);
  return { type: 'function', function: { name } };
}

export function withoutUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The efforts that every server knows, by what clients ask for. */
const EFFORTS: Record<string, string> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** `reasoning_effort` from the field `effort` of a part; one that no chat server knows is kept in the record only. */
export function effortIn(part: RequestPart | undefined): string | undefined {
  const asked = part?.textIfAny('effort');
  if (part === undefined || asked === undefined) return undefined;
  const effort = Object.hasOwn(EFFORTS, asked) ? EFFORTS[asked] : undefined;
  if (effort !== asked) part.keepAndTell('effort');
  return effort;
}
