/** `// agentic-robo-rl-ignore CODE` on a finding's line or the line above silences it there. */
import type { Finding } from '../contract.ts';

export function isSilenced(text: string, { code, range }: Finding): boolean {
  if (!text.includes('agentic-robo-rl-ignore')) return false;
  const lines = text.split(/\r\n|\n|\r/);
  return [lines[range.start.line], lines[range.start.line - 1]].some((line) => {
    const codes = /(?:\/\/|\/\*)\s*agentic-robo-rl-ignore\s+([\w-]+(?:\s*,\s*[\w-]+)*)/.exec(line ?? '')?.[1];
    return codes?.split(/\s*,\s*/).includes(code) ?? false;
  });
}
