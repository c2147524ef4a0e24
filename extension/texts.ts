/** Texts to read and copy, which nobody is asked to save. */
import { type Disposable, Uri, window, workspace } from 'vscode';
import { TEXT_SCHEME } from './ids.ts';
import { plainLabel } from './message-text.ts';

/** The newest texts, by the path of their document. */
const texts = new Map<string, string>();
const MOST_TEXTS = 50;

/** Lets the editor open them. */
export function provideTexts(): Disposable {
  return workspace.registerTextDocumentContentProvider(TEXT_SCHEME, {
    provideTextDocumentContent: ({ path }) => texts.get(path) ?? '',
  });
}

/** Opens a text beside the workspace's files. @param title what its tab says. */
export async function showText(title: string, text: string): Promise<void> {
  const uri = Uri.from({ scheme: TEXT_SCHEME, path: `/${plainLabel(title)}.txt` });
  texts.set(uri.path, text);
  for (const path of texts.keys()) if (texts.size > MOST_TEXTS) texts.delete(path);
  await window.showTextDocument(await workspace.openTextDocument(uri), { preview: true });
}
