/** What a person or a program needs to point a harness at the recording proxy. */
import type { Terminal } from '../output/terminal.ts';

export interface Door {
  /** Ends in /v1. */
  baseUrl: string;
  key: string;
}

/** Environment variables that the usual clients read. */
export function environmentOf({ baseUrl, key }: Door, model: string): Record<string, string> {
  return {
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_KEY: key,
    OPENAI_MODEL: model,
    CODEX_BASE_URL: baseUrl,
    // Its clients add /v1/messages themselves.
    ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: key,
  };
}

export function tellEnvironment(terminal: Terminal, door: Door, model: string): void {
  const lines = Object.entries(environmentOf(door, model)).map(([name, value]) => `export ${name}=${value}`);
  terminal.out(terminal.paint.bold(`${lines.join('\n')}\n`));
}

/** Where each dialect is served. */
export function tellAddresses(terminal: Terminal, { baseUrl }: Door): void {
  for (const [what, path] of [
    ['OpenAI Chat Completions', '/chat/completions'],
    ['OpenAI Responses', '/responses'],
    ['Anthropic Messages', '/messages'],
    ['plain Completions', '/completions'],
  ])
    terminal.out(`${what.padEnd(24)}${baseUrl}${path}`);
  terminal.out('');
}
