/** Where VS Code enters. */
import type { ExtensionContext } from 'vscode';
import { Extension } from './extension.ts';

let extension: Extension | undefined;

/** Called when a workspace has files of ours, one is opened, or a command of ours is run. */
export function activate(context: ExtensionContext): void {
  extension = new Extension(context);
  extension.start();
}

/** The editor waits a few seconds for this. */
export async function deactivate(): Promise<void> {
  await extension?.stop();
  extension = undefined;
}
