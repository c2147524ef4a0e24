/** Puts a page of ours into a panel of the editor. */
import { randomBytes } from 'node:crypto';
import { env, Uri, type WebviewPanel } from 'vscode';
import { pageDocument } from './document.ts';

/**
 * Loads a page into a panel: from here on its script runs, and says that it is ready.
 * @param files folder of the bundles. @param name of the page's script and style sheet there.
 */
export function showPage({ webview, title }: WebviewPanel, files: Uri, name: string): void {
  webview.options = { enableScripts: true, localResourceRoots: [files] };
  const address = (file: string) => webview.asWebviewUri(Uri.joinPath(files, file)).toString();
  webview.html = pageDocument({
    script: address(`${name}.mjs`),
    style: address(`${name}.css`),
    source: webview.cspSource,
    nonce: randomBytes(16).toString('hex'),
    title,
    language: env.language,
  });
}
