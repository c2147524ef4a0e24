/** What the debug adapter needs of where it runs: the editor, or a program of its own. */
import type { ReplaySession } from '../session.ts';

/** What words are fetched with: `l10n` of VS Code, which knows the language. */
export interface Language {
  /** `{0}`, `{1}` in the text stand for the values. */
  t(text: string, ...values: (string | number)[]): string;
}

/** English, for programs that no editor gives its language to. */
export const english: Language = {
  t: (text, ...values) => text.replaceAll(/\{(\d+)\}/g, (_, index: string) => `${values[Number(index)] ?? ''}`),
};

export interface AdapterHost {
  /** @throws RecordingError when there is no such run or episode. */
  open(target: { directory: string; section: string; episode: string }): Promise<ReplaySession>;
  /** To be called once for each session that was opened. */
  release(session: ReplaySession): Promise<void>;
  /** Absolute path of a run that may be a name or relative. */
  resolveRun(run: string): string;
  /** Folders whose files may be read and linked to: those of the workspace. */
  folders(): string[];
  /** Transcripts are documents that the client opens itself; otherwise they are given as sources. */
  documents: boolean;
  language: Language;
  log(text: string): void;
}
