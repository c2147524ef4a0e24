/**
 * Lists to pick from, and boxes to type in. The only place that asks the editor for them, as foreign texts are made plain
 * here: under a box, too, the editor makes links of `[words](command:...)`.
 */
import { type InputBoxOptions, type QuickPickItem, window } from 'vscode';
import { plainLabel } from './message-text.ts';

export interface Choice extends QuickPickItem {
  /** Name of an icon before the label. One in the label itself is shown as it is written. */
  icon?: string;
}

export interface PickOptions {
  title: string;
  placeHolder?: string;
  /** What is typed is looked for in descriptions, too. */
  matchOnDescription?: boolean;
  /** It stays open when the user looks elsewhere. */
  ignoreFocusOut?: boolean;
}

/** Asks for one of several. @returns the choice itself; undefined where none was picked. */
export async function pick<T extends Choice>(choices: readonly T[], options: PickOptions): Promise<T | undefined> {
  const items = choices.map((choice) => ({ ...plainChoice(choice), choice }));
  const title = plainLabel(options.title);
  const placeHolder = options.placeHolder === undefined ? undefined : plainLabel(options.placeHolder);
  return (await window.showQuickPick(items, { ...options, title, placeHolder }))?.choice;
}

/** What `validateInput` says is the program's own. */
export interface TypeOptions extends Pick<InputBoxOptions, 'value' | 'ignoreFocusOut' | 'validateInput'> {
  title: string;
  prompt: string;
}

/** Asks for a text to be typed. @returns undefined where none was. */
export async function askText(options: TypeOptions): Promise<string | undefined> {
  return window.showInputBox({ ...options, title: plainLabel(options.title), prompt: plainLabel(options.prompt) });
}

function plainChoice({ icon, label, description, detail, kind }: Choice): QuickPickItem {
  return {
    label: `${icon === undefined ? '' : `$(${icon}) `}${plainLabel(label)}`,
    ...(description === undefined ? {} : { description: plainLabel(description) }),
    ...(detail === undefined ? {} : { detail: plainLabel(detail) }),
    ...(kind === undefined ? {} : { kind }),
  };
}
