/** Tasks of type `agentic-robo-rl`: the bundled command line, run by the editor. Knows nothing of VS Code. */

/** Commands of the command line that make sense as tasks. package.json lists the same. */
export const TASK_COMMANDS = ['validate', 'train', 'evaluate', 'report', 'check-adapter', 'doctor'] as const;
export type TaskCommand = (typeof TASK_COMMANDS)[number];

export interface TaskWords {
  command: TaskCommand;
  /** Config, run or adapter that the command is about; relative to the workspace folder. */
  file?: string;
  /** Further words, in order. */
  args?: string[];
}

/** Reads what stands in tasks.json. @returns a sentence where something in it is wrong. */
export function readDefinition(written: Record<string, unknown>): TaskWords | string {
  const { command, file, args } = written;
  if (!TASK_COMMANDS.includes(command as TaskCommand))
    return `"command" is ${JSON.stringify(command)}; it must be one of ${TASK_COMMANDS.join(', ')}`;
  if (file !== undefined && typeof file !== 'string') return '"file" must be a text';
  if (args !== undefined && !(Array.isArray(args) && args.every((word) => typeof word === 'string')))
    return '"args" must be a list of texts';
  return { command: command as TaskCommand, file, args: args as string[] | undefined };
}

/** The words after the program. */
export function taskArguments({ command, file, args = [] }: TaskWords): string[] {
  return [command, ...(file === undefined ? [] : [file]), ...args];
}

/** What the list of tasks shows. */
export function taskName(words: TaskWords): string {
  return taskArguments(words).join(' ');
}
