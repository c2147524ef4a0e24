/** `doctor --upstream`: whether planner calls to a server can be trained on. */
import { resolve } from 'node:path';
import type { UpstreamKind } from '../../trainer-daemon/proxy/index.ts';
import { CommandError } from '../exit.ts';
import type { Check } from './checks.ts';

export interface UpstreamCheckOptions {
  upstream: string;
  upstreamKind: UpstreamKind | 'auto';
  model?: string;
  checkpoint?: string;
  apiKeyEnvironment?: string;
}

/** @throws CommandError when the address is no URL, a variable is not set or the checkpoint cannot be read. */
export async function runUpstreamChecks(options: UpstreamCheckOptions): Promise<Check[]> {
  const variable = options.apiKeyEnvironment;
  const apiKey = variable === undefined ? null : (process.env[variable] ?? '');
  if (apiKey === '') throw new CommandError(`the environment variable ${variable} is not set`);
  const { baseUrl } = await import('../../trainer-daemon/proxy/upstreams/index.ts');
  try {
    baseUrl(options.upstream);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
  const { examineUpstream } = await import('../../trainer-daemon/proxy/examination/index.ts');
  return examineUpstream({
    url: options.upstream,
    apiKey,
    kind: options.upstreamKind === 'auto' ? undefined : options.upstreamKind,
    model: options.model,
    renderPrompt: options.checkpoint === undefined ? undefined : await rendererOf(resolve(options.checkpoint)),
  });
}

async function rendererOf(folder: string) {
  const { renderPrompt } = await import('../../trainer-daemon/planner/chat-template.ts');
  const { loadTokenizer } = await import('../../trainer-daemon/planner/tokenizer.ts');
  const tokenizer = await loadTokenizer(folder).catch((error: Error) => {
    throw new CommandError(error.message);
  });
  return ({ messages, tools }: { messages: unknown[]; tools: unknown[] | null }) =>
    renderPrompt(tokenizer, { messages, tools } as Parameters<typeof renderPrompt>[1]);
}
