/** Shapes that several servers share. */
import type { ChoiceFacts, TokenFact } from './client.ts';

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A version as servers tell it: a whole number, or one written as text. Names such as "default" tell nothing. */
export function versionOf(value: unknown): number | undefined {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/**
 * OpenAI's `logprobs.content`: one entry a token. vLLM writes the token as `token_id:N` where asked to, and some builds
 * do so unasked.
 */
export function chatLogprobs(choice: Record<string, unknown>): TokenFact[] | undefined {
  const entries = record(choice.logprobs).content;
  if (!Array.isArray(entries)) return undefined;
  return entries.map((entry) => {
    const { token, logprob } = record(entry);
    const written = typeof token === 'string' ? /^token_id:(\d+)$/.exec(token)?.[1] : undefined;
    const fact: TokenFact = { logprob: numberOrNull(logprob) };
    if (written !== undefined) fact.id = Number(written);
    return fact;
  });
}

/** vLLM's additions to a choice; older builds put the prompt's ids there as well. */
export function chatChoice(choice: Record<string, unknown>): ChoiceFacts {
  return {
    promptTokenIds: choice.prompt_token_ids,
    tokenIds: choice.token_ids,
    tokens: chatLogprobs(choice),
  };
}
