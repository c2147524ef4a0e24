/** The command that goes on with a run, as a person copies it. */

/** A path as a shell takes it back. */
export function shellWord(path: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

export function resumeCommand(directory: string): string {
  return `agentic-robo-rl train --resume ${shellWord(directory)}`;
}
