/** The VS Code that the tests run in. */
import { inject } from 'vitest';

export interface InstalledVsCode {
  /** Of the installation that install.ts makes. */
  folder: string;
  /** Of a profile that has the packaged extension. */
  profile: string;
}

/** Null where there is none, and the set-up has said why. */
export const vscode = inject('vscode');
