/** Whether a command is a program's path alone, or has its arguments in the same text. */

const PROGRAM =
  /^(?:[^\s]*\/)?(python[\d.]*|node|npx|npm|bash|sh|uv|uvx|conda|docker|podman|ros2|rpent|poetry|deno|bun|java|cargo|make|env|sudo|xvfb-run)\s+\S/;
/** A shell's own signs; a path with one of them in it is possible, and nobody has one. */
const SHELL_SIGNS = /&&|[|;<>]|\$\(/;
const SCRIPT = /\S\.(py|js|mjs|sh|ts)$/;

/** @param text the command; `*` for what is not constant in it. A path may have spaces in it, which is no command line. */
export function isCommandLine(text: string): boolean {
  const [head, ...words] = text.trim().split(/\s+/);
  if (SHELL_SIGNS.test(text)) return true;
  if (words.length === 0) return false;
  if (PROGRAM.test(text) || /^[A-Za-z_]\w*=/.test(head) || SCRIPT.test(head)) return true;
  const isOption = words.some((each) => /^--?[A-Za-z][\w-]*(=.*)?$/.test(each));
  // `C:\Program Files\...`: options are told apart there, too; bare words are not.
  if (isOption) return true;
  if (/[/\\]/.test(head)) return !/^[*\\]/.test(head) && words.includes('*');
  return /^[\w.-]+$/.test(head) && words.some((each) => each === '*' || SCRIPT.test(each));
}

/** Whether the first word surely is the program, so that the text may be split at its spaces. */
export function isSplittable(text: string): boolean {
  const [head, second = ''] = text.trim().split(/\s+/);
  if (SHELL_SIGNS.test(text) || head.includes('=')) return false;
  return PROGRAM.test(text) || SCRIPT.test(head) || !head.includes('/') || !second.includes('/');
}
