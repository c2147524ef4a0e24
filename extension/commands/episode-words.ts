/** What Run One Episode reads from texts. Knows nothing of VS Code. */
import { isAbsolute, resolve } from 'node:path';

/** Largest initial state that is taken. */
const LARGEST_STATE = 1_000_000;

/**
 * The adapter that a config's text names, for a list of its tasks; whether the config is sound is not asked here.
 * @param folder that the config lies in.
 * @returns a shipped name or an absolute path; undefined where none is found.
 */
export function adapterIn(config: string, folder: string): string | undefined {
  const [, quoted, bare] =
    /(?:^|[{,\s])["']?adapter["']?\s*:\s*(?:["']([^"'\n]+)["']|([^\s"'#,{}]+))/.exec(config) ?? [];
  const name = quoted ?? bare;
  if (name === undefined) return undefined;
  return /[/\\]|\.[cm]?[jt]s$/.test(name) && !isAbsolute(name) ? resolve(folder, name) : name;
}

/** Whether a text is `suite/index`. */
export function isTask(text: string): boolean {
  return /^.+\/\d+$/.test(text.trim());
}

/** The initial state that a text says; undefined where it says none. */
export function stateIn(text: string): number | undefined {
  const state = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  return state <= LARGEST_STATE ? state : undefined;
}

/** Every task of an adapter as `suite/index` with its instruction. */
export function taskChoices(tasks: Record<string, string[]>): { task: string; instruction: string }[] {
  return Object.entries(tasks).flatMap(([suite, instructions]) =>
    instructions.map((instruction, index) => ({ task: `${suite}/${index}`, instruction })),
  );
}
