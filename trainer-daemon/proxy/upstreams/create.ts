/** From a server's description to an upstream of the proxy. */
import type { Upstream } from '../contract.ts';
import type { PolicyGate } from '../policy-gate.ts';
import type { UpstreamClient, UpstreamKind } from './client.ts';
import { embedded } from './embedded.ts';
import { llamacpp } from './llamacpp.ts';
import { openaiCompatible } from './openai-compatible.ts';
import { sglang } from './sglang.ts';
import { vllm } from './vllm.ts';

export interface UpstreamOptions {
  kind: UpstreamKind;
  /** Base URL; `/v1` is added when it has no path. */
  url: string;
  model: string;
  apiKey?: string | null;
  /** Version that a request dispatched now is answered with; null for servers that do not serve this run's planner. */
  policyVersion: () => number | null;
  /** How many tokens its planner's vocabulary has, where that is known. */
  vocabulary?: number | null;
  /** Holds calls while the weights change. */
  gate?: PolicyGate;
}

export const CLIENTS: Record<UpstreamKind, UpstreamClient> = {
  embedded,
  vllm,
  sglang,
  llamacpp,
  openai: openaiCompatible,
};

/**
 * Describes a server to the proxy; nothing is sent yet.
 * @throws Error when the URL is no http(s) URL or the model's name is empty.
 */
export function createUpstream(options: UpstreamOptions): Upstream {
  if (options.model.trim() === '')
    throw new Error(`the upstream at ${options.url} needs a model name (serving.model or teacher.model)`);
  const client = CLIENTS[options.kind];
  return {
    name: options.kind,
    url: baseUrl(options.url),
    model: options.model,
    apiKey: options.apiKey ?? null,
    capturesTokens: client.capturesTokens,
    client,
    gate: options.gate,
    vocabulary: options.vocabulary,
    policyVersion: options.policyVersion,
  };
}

/** @returns the base of the OpenAI-compatible endpoints. @throws Error when `written` is no http(s) URL. */
export function baseUrl(written: string): string {
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

/** Where the server's other endpoints start: the base without its `/v1`. */
export function serverRoot(base: string): string {
  return base.replace(/\/v1$/, '');
}
