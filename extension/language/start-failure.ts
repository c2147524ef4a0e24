/** Why a language server did not start. Knows nothing of VS Code. */

export type StartFailure =
  | { why: 'no-program' | 'not-permitted'; program: string }
  /** Its process has ended, or has closed its output, before it answered. */
  | { why: 'ended' | 'unknown' }
  | { why: 'other'; words: string };

/** @param thrown what the client's start failed with: an error, or, where the program cannot be run, a plain text. */
export function startFailure(thrown: unknown): StartFailure {
  const said = thrown instanceof Error ? thrown.message : typeof thrown === 'string' ? thrown : JSON.stringify(thrown);
  const words = (said ?? '').trim();
  // `Launching server using command /no/node failed. Error: spawn /no/node ENOENT`
  const [, code] = /\bspawn .* (E[A-Z]+)$/.exec(words) ?? [];
  const program = /using command (.*) failed\./.exec(words)?.[1];
  if (program !== undefined && code === 'ENOENT') return { why: 'no-program', program };
  if (program !== undefined && code === 'EACCES') return { why: 'not-permitted', program };
  if (/connection got disposed|connection is closed/i.test(words)) return { why: 'ended' };
  return words ? { why: 'other', words } : { why: 'unknown' };
}
