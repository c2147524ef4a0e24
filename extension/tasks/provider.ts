/** Offers validating and training of the workspace's configs as tasks, and runs those that tasks.json has. */
import {
  type LogOutputChannel,
  l10n,
  ProcessExecution,
  RelativePattern,
  Task,
  TaskGroup,
  TaskPanelKind,
  type TaskProvider,
  TaskRevealKind,
  type TaskScope,
  type Uri,
  type WorkspaceFolder,
  workspace,
} from 'vscode';
import { CONFIG_FILES, DISPLAY_NAME, PROBLEM_MATCHER, TASK_TYPE } from '../ids.ts';
import { tellWarning } from '../messages.ts';
import { programPath, RUN_AS_NODE, runtime } from '../programs.ts';
import { readDefinition, type TaskWords, taskArguments, taskName } from './definition.ts';

const MOST_CONFIGS = 50;

/** A task that runs the bundled command line in a folder of the workspace. */
export function commandLineTask(extension: Uri, words: TaskWords, scope: WorkspaceFolder | TaskScope): Task {
  const cwd = typeof scope === 'object' ? scope.uri.fsPath : undefined;
  const execution = new ProcessExecution(runtime(), [programPath(extension, 'cli'), ...taskArguments(words)], {
    cwd,
    env: RUN_AS_NODE,
  });
  const task = new Task(
    { type: TASK_TYPE, ...words },
    scope,
    taskName(words),
    DISPLAY_NAME,
    execution,
    `$${PROBLEM_MATCHER}`,
  );
  if (words.command === 'validate') task.group = TaskGroup.Test;
  task.presentationOptions = { reveal: TaskRevealKind.Always, panel: TaskPanelKind.Dedicated, clear: true };
  return task;
}

export class CommandLineTasks implements TaskProvider {
  private readonly extension: Uri;
  private readonly log: LogOutputChannel;
  /** Warnings that are shown now. */
  private readonly shown = new Set<string>();

  constructor(extension: Uri, log: LogOutputChannel) {
    this.extension = extension;
    this.log = log;
  }

  async provideTasks(): Promise<Task[]> {
    if (!workspace.isTrusted) return [];
    const tasks: Task[] = [];
    for (const folder of workspace.workspaceFolders ?? []) {
      const pattern = new RelativePattern(folder, CONFIG_FILES);
      const configs = await workspace.findFiles(pattern, '**/{node_modules,runs}/**', MOST_CONFIGS);
      for (const config of configs) {
        const file = config.path.slice(folder.uri.path.length + 1);
        for (const command of ['validate', 'train'] as const)
          tasks.push(commandLineTask(this.extension, { command, file }, folder));
      }
      tasks.push(commandLineTask(this.extension, { command: 'doctor' }, folder));
    }
    return tasks;
  }

  /** Completes a task of tasks.json. Of one that is wrong the editor itself says no more than that it cannot be run. */
  resolveTask(task: Task): Task | undefined {
    if (!workspace.isTrusted) return undefined;
    const words = readDefinition(task.definition);
    if (typeof words === 'string') {
      this.tellWrong(l10n.t('tasks.json, "{0}": {1}', task.name, words));
      return undefined;
    }
    const resolved = commandLineTask(this.extension, words, task.scope as WorkspaceFolder | TaskScope);
    // The editor wants back the very definition that it asked about.
    resolved.definition = task.definition;
    return resolved;
  }

  /** The editor may ask several times for one run of a task. */
  private tellWrong(message: string): void {
    this.log.error(message);
    if (this.shown.has(message)) return;
    this.shown.add(message);
    void tellWarning(message).finally(() => this.shown.delete(message));
  }
}
