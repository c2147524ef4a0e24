/**
 * llama.cpp's server. Each log-prob entry has its token's id; `post_sampling_probs` gives probabilities of the sampled
 * distribution (`prob`) where the plain `logprob` is the model's before any sampling setting. The prompt's ids are not
 * in the reply: the server renders (`/apply-template`) and encodes (`/tokenize`) them on demand.
 */
import type { TokenFact, UpstreamClient } from './client.ts';
import { list, numberOrNull, record } from './shapes.ts';

export const llamacpp: UpstreamClient = {
  kind: 'llamacpp',
  title: "llama.cpp's server",
  capturesTokens: true,
  supports: { topK: true, seed: true },
  // The server's own defaults (min_p 0.05 above all) cut and bend the distribution.
  neutral: {
    min_p: 0,
    typical_p: 1,
    repeat_penalty: 1,
    xtc_probability: 0,
    dry_multiplier: 0,
    dynatemp_range: 0,
    mirostat: 0,
    top_n_sigma: -1,
  },
  // The lowest float stands for the logarithm of 0.
  floor: -3e38,
  capture: (own) => ({
    logprobs: true,
    // 0 would give no probabilities at all here.
    top_logprobs: Math.max(1, own?.topLogprobs ?? 0),
    post_sampling_probs: true,
  }),
  // Log-probs are refused for a stream with tools.
  asksWhole: (request) => list(request.tools).length > 0,
  root: () => ({}),
  choice: (choice) => ({ tokens: probabilities(record(choice.logprobs).content) }),
  async promptTokens(request, ask) {
    const { messages, tools, tool_choice, chat_template_kwargs } = request;
    const { prompt } = record(await ask('/apply-template', { messages, tools, tool_choice, chat_template_kwargs }));
    if (typeof prompt !== 'string') throw new Error('/apply-template answered no prompt');
    const answer = record(await ask('/tokenize', { content: prompt, add_special: true, parse_special: true }));
    // With pieces asked for by the server's settings, each token is an object.
    return list(answer.tokens).map((token) => (typeof token === 'number' ? token : (record(token).id as number)));
  },
};

function probabilities(entries: unknown): TokenFact[] | undefined {
  if (!Array.isArray(entries)) return undefined;
  return entries.map((entry) => {
    const { id, prob, logprob } = record(entry);
    const probability = numberOrNull(prob);
    return { id, logprob: probability !== null && probability > 0 ? Math.log(probability) : numberOrNull(logprob) };
  });
}
