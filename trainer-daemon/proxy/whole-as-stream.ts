/** A whole reply in the form of a stream, for harnesses that asked for one where the upstream was not asked so. */
import { choiceOf } from './reply-shapes.ts';
import { list, record } from './upstreams/shapes.ts';

/**
 * @param reply a chat completion, already as the harness may see it.
 * @param withUsage whether the harness asked for the usage at the end.
 * @returns the stream's chunks.
 */
export function wholeAsChunks(reply: unknown, withUsage: boolean): Record<string, unknown>[] {
  const { choices, usage, object: _, prompt_token_ids: promptTokenIds, ...head } = record(reply);
  const frame = { ...head, object: 'chat.completion.chunk' };
  const { message, finish_reason: finishReason, index: _index, logprobs, ...rest } = record(choiceOf({ choices }));
  const { tool_calls: toolCalls, role, ...text } = record(message);
  const chunk = (choice: Record<string, unknown>, root: Record<string, unknown> = {}): Record<string, unknown> => ({
    ...frame,
    ...root,
    choices: [{ index: 0, ...choice }],
  });
  const chunks = [
    chunk(
      { delta: { role: role ?? 'assistant', content: '' }, finish_reason: null },
      promptTokenIds === undefined ? {} : { prompt_token_ids: promptTokenIds },
    ),
  ];
  const delta: Record<string, unknown> = Object.fromEntries(
    Object.entries(text).filter(([, value]) => value !== null && value !== ''),
  );
  const calls = list(toolCalls).map((call, index) => ({ index, ...record(call) }));
  if (calls.length > 0) delta.tool_calls = calls;
  if (Object.keys(delta).length > 0) chunks.push(chunk({ delta, logprobs: logprobs ?? null, finish_reason: null }));
  chunks.push(chunk({ ...rest, delta: {}, finish_reason: finishReason ?? null }));
  if (withUsage && usage !== undefined) chunks.push({ ...frame, choices: [], usage });
  return chunks;
}
