/** The VS Code that the tests run in. */
import { inject } from 'vitest';

/** Folder of its installation; null where there is none, and the set-up has said why. */
export const vscodeFolder = inject('vscode');
