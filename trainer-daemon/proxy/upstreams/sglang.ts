/**
 * SGLang's OpenAI-compatible server. Newer builds tell ids by `return_token_ids`; `return_meta_info` adds the native
 * `meta_info`, whose `output_token_logprobs` are [log-prob, id, text or null] of the sampled distribution. The version of
 * the weights (`weight_version`) is told with whole replies only, so whole replies are asked for.
 */
import type { ChoiceFacts, TokenFact, UpstreamClient } from './client.ts';
import { chatChoice, numberOrNull, record, versionOf } from './shapes.ts';

export const sglang: UpstreamClient = {
  kind: 'sglang',
  title: 'SGLang',
  capturesTokens: true,
  supports: { topK: true, seed: true },
  // Where a field is missing SGLang takes the checkpoint's generation_config.json.
  neutral: { repetition_penalty: 1, min_p: 0 },
  floor: -9999,
  capture: (own) => ({
    logprobs: true,
    top_logprobs: own?.topLogprobs ?? 0,
    return_token_ids: true,
    return_meta_info: true,
  }),
  asksWhole: () => true,
  root: (root) => ({
    promptTokenIds: root.prompt_token_ids,
    policyVersion:
      versionOf(record(root.metadata).weight_version) ??
      versionOf(record(root.meta_info).weight_version) ??
      versionOf(root.weight_version),
  }),
  choice(choice): ChoiceFacts {
    const meta = record(choice.meta_info);
    const facts = chatChoice(choice);
    const native = nativeTokens(meta.output_token_logprobs);
    return {
      promptTokenIds: facts.promptTokenIds ?? meta.prompt_token_ids,
      tokenIds: facts.tokenIds ?? choice.output_ids ?? meta.output_ids,
      policyVersion: versionOf(meta.weight_version),
      ...(native ? { tokens: native, cumulative: true } : { tokens: facts.tokens }),
    };
  },
};

/** `[[log-prob, id, text or null], ...]`. Undefined when it is no list. */
function nativeTokens(value: unknown): TokenFact[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((entry) => {
    const [logprob, id] = Array.isArray(entry) ? entry : [null, null];
    return { logprob: numberOrNull(logprob), id };
  });
}
