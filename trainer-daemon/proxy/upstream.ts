/** The servers that may stand behind the recording proxy. */
import type { Upstream } from './contract.ts';

export interface UpstreamOptions {
  kind: 'embedded' | 'vllm' | 'sglang' | 'llamacpp' | 'openai';
  /** Base URL; `/v1` is added when it has no path. */
  url: string;
  model: string;
  apiKey?: string | null;
  /** Version that a request dispatched now is answered with; null for servers that do not serve this run's planner. */
  policyVersion: () => number | null;
}

const ABILITIES: Partial<Record<UpstreamOptions['kind'], Pick<Upstream, 'capturesTokens' | 'supports' | 'neutral'>>> = {
  embedded: { capturesTokens: true, supports: { topK: true, seed: true } },
  vllm: {
    capturesTokens: true,
    supports: { topK: true, seed: true },
    // Where a field is missing vLLM takes the checkpoint's generation_config.json, which would bend the distribution.
    neutral: { repetition_penalty: 1, min_p: 0 },
  },
  openai: { capturesTokens: false, supports: { topK: false, seed: true } },
};

/**
 * Describes a server to the proxy; nothing is sent yet.
 * @throws Error when the kind is not served yet, the URL is no http(s) URL or the model's name is empty.
 */
export function createUpstream(options: UpstreamOptions): Upstream {
  const abilities = ABILITIES[options.kind];
  if (!abilities) {
    throw new Error(
      `upstream "${options.kind}" is not supported yet: use "embedded", "vllm" or "openai" (serving.upstream, teacher.upstream)`,
    );
  }
  if (options.model.trim() === '')
    throw new Error(`the upstream at ${options.url} needs a model name (serving.model or teacher.model)`);
  return {
    name: options.kind,
    url: baseUrl(options.url),
    model: options.model,
    apiKey: options.apiKey ?? null,
    ...abilities,
    policyVersion: options.policyVersion,
  };
}

function baseUrl(written: string): string {
  let url: URL;
  try {
    url = new URL(written);
  } catch {
    throw new Error(`"${written}" is not a URL: write for example http://127.0.0.1:8000/v1`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`"${written}" is not an http or https URL`);
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}
