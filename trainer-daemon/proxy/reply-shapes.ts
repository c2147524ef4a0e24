/**
 * Where the parts of a chat completion lie, read in one way for the record and for every dialect: what is recorded is
 * what the client was handed. Nothing here throws.
 */
import { list, record } from './upstreams/shapes.ts';

/** The choice that a call is about: the first of index 0, wherever it stands in the list. Undefined when there is none. */
export function choiceOf(reply: Record<string, unknown>): Record<string, unknown> | undefined {
  return list(reply.choices)
    .map(record)
    .find(({ index }) => (index ?? 0) === 0);
}

/**
 * Leaves that choice alone in a reply or chunk, because clients take the one that stands first. Changes the object given.
 * @returns whether others were there.
 */
export function keepOneChoice(reply: Record<string, unknown>): boolean {
  if (!Array.isArray(reply.choices)) return false;
  const several = reply.choices.length > 1 || (reply.choices.length === 1 && choiceOf(reply) === undefined);
  if (several) {
    const kept = choiceOf(reply);
    reply.choices = kept === undefined ? [] : [kept];
  }
  return several;
}

/** Content of a message or delta as text; the text parts of a list are joined. Null when there is none. */
export function contentIn(message: Record<string, unknown>): string | null {
  return textOf(message.content);
}

/** Reasoning under either name; an empty text under one name does not hide the other. */
export function reasoningIn(message: Record<string, unknown>): string | null {
  const [older, newer] = [textOf(message.reasoning_content), textOf(message.reasoning)];
  return older || newer || (older ?? newer);
}

/** The words of a refusal, which OpenAI's servers tell apart from the content. */
export function refusalIn(message: Record<string, unknown>): string | null {
  return textOf(message.refusal);
}

/** The one call of the form before `tool_calls`, as a tool call without an id. */
export function functionCallIn(message: Record<string, unknown>): Record<string, unknown> | undefined {
  const fn = message.function_call;
  return typeof fn === 'object' && fn !== null ? { index: 0, id: '', type: 'function_call', function: fn } : undefined;
}

/** The id of a tool call that its server gave none, for clients that match results to calls by it. */
export function idOfNameless(replyId: string, index: number): string {
  return `call_${replyId}_${index}`;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const texts = value.map((part) => record(part).text).filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.join('') : null;
}
