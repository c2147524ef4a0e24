/** The programs that come with the extension, and what runs them. */
import { Uri } from 'vscode';
import { nodePath } from './settings.ts';

/** Path of a bundled program, for example `cli`. */
export function programPath(extension: Uri, name: 'cli' | 'daemon' | 'language-server' | 'prompt-rendering'): string {
  return Uri.joinPath(extension, 'dist', `${name}.mjs`).fsPath;
}

/** The user's Node, or the editor's own program. */
export function runtime(): string {
  return nodePath() ?? process.execPath;
}

/** Tells the editor's program to be Node; means nothing to Node itself. */
export const RUN_AS_NODE = { ELECTRON_RUN_AS_NODE: '1' };
