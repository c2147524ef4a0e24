/**
 * Notifications and dialogs. The only place that calls the editor for them, as every text is made plain here: one from
 * elsewhere must not bring a link that runs a command.
 */
import { l10n, type Progress, ProgressLocation, window } from 'vscode';
import { plainDetail, plainMessage } from './message-text.ts';

/** Says something. @returns the action that was chosen, undefined for none. */
export async function tell(text: string, ...actions: string[]): Promise<string | undefined> {
  return window.showInformationMessage(plainMessage(text), ...actions);
}

/** The same of something to look after. */
export async function tellWarning(text: string, ...actions: string[]): Promise<string | undefined> {
  return window.showWarningMessage(plainMessage(text), ...actions);
}

/** The same of something that went wrong. */
export async function tellError(text: string, ...actions: string[]): Promise<string | undefined> {
  return window.showErrorMessage(plainMessage(text), ...actions);
}

/** Says what a caught error says, under the extension's name. */
export async function tellProblem(error: unknown, ...actions: string[]): Promise<string | undefined> {
  const message = error instanceof Error ? error.message : String(error);
  return tellError(l10n.t('AgenticRoboRL: {0}', message), ...actions);
}

/** A question that has to be answered before anything else is done. @returns whether it was answered with the action. */
export async function confirmed(question: string, action: string, detail?: string): Promise<boolean> {
  const options = { modal: true, ...(detail === undefined ? {} : { detail: plainDetail(detail) }) };
  return (await window.showWarningMessage(plainMessage(question), options, action)) === action;
}

/** What the work of {@link withProgress} has. */
export interface Waiting {
  /** Says what is being done. */
  report(message: string): void;
  /** Aborted when the user gives up waiting. */
  signal: AbortSignal;
}

/** Shows that something is being done for as long as the work takes; fails as it fails. */
export async function withProgress<T>(
  { title, cancellable = false }: { title: string; cancellable?: boolean },
  work: (waiting: Waiting) => Promise<T>,
): Promise<T> {
  const options = { location: ProgressLocation.Notification, title: plainMessage(title), cancellable };
  return window.withProgress(options, (progress: Progress<{ message?: string }>, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    const report = (message: string) => progress.report({ message: plainMessage(message) });
    return work({ report, signal: abort.signal });
  });
}
