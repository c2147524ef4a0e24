/** vLLM's /v1/completions: the chat double's replies with the text in the choice, and log-probs as parallel lists. */

type Json = Record<string, unknown>;

/** The chat request that stands for a plain one in the double. */
export function asChat(body: Json): Json {
  return { ...body, messages: body.prompt, logprobs: typeof body.logprobs === 'number' };
}

/** A chat reply or chunk as a plain one; anything else stays. */
export function asPlain(reply: unknown): unknown {
  const { choices, ...root } = (reply ?? {}) as { choices?: unknown } & Json;
  if (!Array.isArray(choices)) return reply;
  return {
    ...root,
    object: 'text_completion',
    choices: choices.map((choice) => {
      const { message, delta, logprobs, ...rest } = (choice ?? {}) as Json;
      const content = (logprobs as { content?: { token: string; logprob: number }[] } | null)?.content;
      return {
        ...rest,
        text: ((message ?? delta) as { content?: string } | undefined)?.content ?? '',
        logprobs: Array.isArray(content)
          ? { tokens: content.map((each) => each?.token), token_logprobs: content.map((each) => each?.logprob) }
          : null,
      };
    }),
  };
}
