/**
 * vLLM's OpenAI-compatible server. Ids come by `return_token_ids` (0.10.2 and newer) or, from older builds, written into
 * the log-probs' texts; both are asked for, so that they can be held against each other. Log-probs are of the sampled
 * distribution only under `--logprobs-mode processed_logprobs`; `doctor --upstream` finds out.
 */
import type { UpstreamClient } from './client.ts';
import { chatChoice, versionOf } from './shapes.ts';

export const vllm: UpstreamClient = {
  kind: 'vllm',
  title: 'vLLM',
  capturesTokens: true,
  supports: { topK: true, seed: true },
  // Where a field is missing vLLM takes the checkpoint's generation_config.json, which would bend the distribution.
  neutral: { repetition_penalty: 1, min_p: 0 },
  floor: -9999,
  capture: (own) => ({
    logprobs: true,
    // 0 and not null: null gives no log-probs at all.
    top_logprobs: own?.topLogprobs ?? 0,
    return_token_ids: true,
    // Texts in the form token_id:N would reach a harness that reads the log-probs itself.
    ...(own ? {} : { return_tokens_as_token_ids: true }),
  }),
  asksWhole: () => false,
  // Released builds tell no version; deployments that add one use these names.
  root: (root) => ({
    promptTokenIds: root.prompt_token_ids,
    policyVersion: versionOf(root.policy_version) ?? versionOf(root.weight_version),
  }),
  choice: chatChoice,
};
