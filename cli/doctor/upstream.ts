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

/** What must be known of a server whose calls are trained on. */
const NEEDED = new Set(['token ids', 'token ids in streams', 'log-probs', 'alignment']);

export interface UpstreamVerdict {
  /** Null: nothing speaks against it, but something needed could not be told. */
  trainable: boolean | null;
  text: string;
}

/** The findings in one line. */
export function upstreamVerdict(checks: readonly Check[]): UpstreamVerdict {
  if (checks.some(({ state }) => state === 'error'))
    return { trainable: false, text: 'calls to this server should not be trained on' };
  const needed = checks.filter(({ name }) => NEEDED.has(name));
  if (needed.some(({ state }) => state === 'missing'))
    return { trainable: false, text: 'this server will do for a teacher; its calls cannot be trained on' };
  const untold = needed.filter(({ state }) => state === 'warning').map(({ name }) => name);
  if (untold.length > 0)
    return {
      trainable: null,
      text: `nothing was found against this server, but not all could be told (${untold.join(', ')}): make sure of it before its calls are trained on`,
    };
  return { trainable: true, text: 'nothing speaks against this server' };
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
