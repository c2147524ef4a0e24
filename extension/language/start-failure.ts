/** Why a language server did not start, in words. Knows nothing of VS Code. */

/** @param thrown what the client's start failed with: an error, or, where the program cannot be run, a plain text. */
export function startFailure(thrown: unknown): string {
  const said = thrown instanceof Error ? thrown.message : typeof thrown === 'string' ? thrown : JSON.stringify(thrown);
  const words = (said ?? '').trim();
  // `Launching server using command /no/node failed. Error: spawn /no/node ENOENT`
  const [, code] = /\bspawn .* (E[A-Z]+)$/.exec(words) ?? [];
  const program = /using command (.*) failed\./.exec(words)?.[1];
  if (program !== undefined && code === 'ENOENT') return `there is no program ${program}`;
  if (program !== undefined && code === 'EACCES') return `the program ${program} may not be run`;
  // Its process has ended, or has closed its output, before it answered.
  if (/connection got disposed|connection is closed/i.test(words)) return 'its program ended before it answered';
  return words || 'no reason was given';
}
