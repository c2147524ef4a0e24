/** Where new files go, and under which names. */
import { FileType, l10n, type Uri, type WorkspaceFolder, window, workspace } from 'vscode';
import { noFolder } from '../commands/missing.ts';
import { askText } from '../picking.ts';

/** Names that make good file names everywhere and need no quotes in a config. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The folder that a command is about: the only one, that of the active editor, or the one the user picks. */
export async function chooseFolder(): Promise<WorkspaceFolder | undefined> {
  const { workspaceFolders: folders = [] } = workspace;
  if (folders.length === 0) throw noFolder();
  if (folders.length === 1) return folders[0];
  const active = window.activeTextEditor && workspace.getWorkspaceFolder(window.activeTextEditor.document.uri);
  return active ?? window.showWorkspaceFolderPick();
}

/** Asks for the name of a file that does not exist yet. @param fileOf the file that a name gives. */
export function chooseName(title: string, prompt: string, value: string, fileOf: (name: string) => Uri) {
  return askText({
    title,
    prompt,
    value,
    ignoreFocusOut: true,
    validateInput: async (name) => {
      if (!NAME.test(name)) return l10n.t('Letters, digits, - and _; at most 64');
      return (await exists(fileOf(name))) ? l10n.t('There is a file of this name already') : undefined;
    },
  });
}

export async function exists(file: Uri): Promise<boolean> {
  return workspace.fs.stat(file).then(
    ({ type }) => type !== FileType.Unknown,
    () => false,
  );
}

export async function write(file: Uri, text: string): Promise<void> {
  await workspace.fs.writeFile(file, new TextEncoder().encode(text));
}

export async function read(file: Uri): Promise<string> {
  return new TextDecoder().decode(await workspace.fs.readFile(file));
}
