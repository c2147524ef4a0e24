/** Why a call that completed may not be trained on. What is missing or contradicts itself is never made good. */
import type { Completion } from './completion.ts';
import type { UpstreamClient } from './upstreams/client.ts';

/** A log-prob above this is no logarithm of a probability; servers round in single precision. */
const MOST_LOGPROB = 1e-4;

/** Finish reasons of whole responses, as the OpenAI API names them. */
const WHOLE = new Set(['stop', 'length', 'tool_calls', 'function_call', 'content_filter']);

/** Trainers hold ids as 32-bit integers; no tokenizer comes near. */
const MOST_IDS = 2 ** 31;

/** @param vocabulary number of the planner's tokens, where it is known. @returns the first reason, or null when ids and log-probs are whole and agree with each other. */
export function captureProblem(
  completion: Completion,
  client: UpstreamClient,
  vocabulary?: number | null,
): string | null {
  const { promptTokenIds, responseTokenIds, logprobs, usage, notes, finishReason } = completion;
  if (!client.capturesTokens) return `${client.title} tells no token ids: the call can be read and taught from only`;
  if (finishReason !== null && !WHOLE.has(finishReason))
    return `the finish reason "${finishReason}" is not known, so the response may not be whole`;
  if (completion.unusual !== null) return completion.unusual;
  if (promptTokenIds === null) return 'no prompt token ids came';
  if (responseTokenIds === null) return 'no response token ids came';
  if (logprobs === null)
    return notes.find((note) => note.startsWith('the log-probs of')) ?? 'no log-probs came with the response';
  const contradiction = notes.find((note) => note.includes('token ids'));
  if (contradiction !== undefined) return contradiction;
  if (promptTokenIds.length === 0) return 'the list of prompt token ids is empty';
  if (responseTokenIds.length === 0) return 'the list of response token ids is empty';
  const most = vocabulary ?? MOST_IDS;
  const foreign = [...promptTokenIds, ...responseTokenIds].find((id) => id >= most);
  if (foreign !== undefined)
    return vocabulary == null
      ? `the token id ${foreign} is beyond any vocabulary`
      : `the token id ${foreign} is none of the planner's ${vocabulary} tokens`;
  const floored = logprobs.findIndex((logprob) => logprob <= client.floor);
  if (floored >= 0) return `response token ${floored} has the log-prob ${logprobs[floored]}, which stands for none`;
  const impossible = logprobs.findIndex((logprob) => logprob > MOST_LOGPROB);
  if (impossible >= 0) return `response token ${impossible} has the log-prob ${logprobs[impossible]}, above 0`;
  if (usage !== null && usage.completion_tokens !== responseTokenIds.length)
    return `${responseTokenIds.length} response token ids came, but the usage counts ${usage.completion_tokens} tokens`;
  if (usage !== null && usage.prompt_tokens !== promptTokenIds.length)
    return `${promptTokenIds.length} prompt token ids came, but the usage counts ${usage.prompt_tokens} tokens`;
  return null;
}
