/** Commands that go on with a run, as a person copies them. */
import { basename, isAbsolute, relative } from 'node:path';

/** A path as a shell takes it back. */
export function shellWord(path: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * How this program was called, so that a command told to a person works when copied: through npx, by its name, or as a
 * script of a checkout.
 * @param script the running script's path.
 */
export function commandName(
  script = process.argv[1] ?? '',
  environment: Record<string, string | undefined> = process.env,
  folder = process.cwd(),
): string {
  if (environment.npm_command === 'exec') return 'npx agentic-robo-rl';
  if (basename(script) !== 'cli.mjs') return 'agentic-robo-rl';
  const near = relative(folder, script);
  return `node ${shellWord(near.startsWith('..') || isAbsolute(near) ? script : near)}`;
}

export function resumeCommand(directory: string): string {
  return `${commandName()} train --resume ${shellWord(directory)}`;
}
