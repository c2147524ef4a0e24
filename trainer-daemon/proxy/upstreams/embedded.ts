/** The planner served by this program itself: vLLM's shapes, and the policy version in every reply and chunk. */
import type { UpstreamClient } from './client.ts';
import { chatChoice, versionOf } from './shapes.ts';

export const embedded: UpstreamClient = {
  kind: 'embedded',
  title: 'the embedded planner',
  capturesTokens: true,
  supports: { topK: true, seed: true },
  plainCompletions: false,
  floor: -9999,
  capture: (own) => ({ logprobs: true, top_logprobs: own?.topLogprobs ?? 0, return_token_ids: true }),
  asksWhole: () => false,
  root: (root) => ({ promptTokenIds: root.prompt_token_ids, policyVersion: versionOf(root.policy_version) }),
  choice: chatChoice,
};
