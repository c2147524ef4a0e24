/** Any other OpenAI-compatible API: nothing is asked for beyond the harness's own request. For teachers. */
import type { UpstreamClient } from './client.ts';
import { chatChoice } from './shapes.ts';

export const openaiCompatible: UpstreamClient = {
  kind: 'openai',
  title: 'an OpenAI-compatible API',
  capturesTokens: false,
  supports: { topK: false, seed: true },
  floor: -9999,
  capture: () => ({}),
  asksWhole: () => false,
  root: (root) => ({ promptTokenIds: root.prompt_token_ids }),
  choice: chatChoice,
};
