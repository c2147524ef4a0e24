/** New Training Config: for the embedded world, or for an adapter of the workspace. */
import { l10n, type QuickPickItem, RelativePattern, Uri, window, workspace } from 'vscode';
import { ADAPTER_FILES } from '../ids.ts';
import { speaksOfUs } from '../language/documents.ts';
import { pick } from '../picking.ts';
import { embeddedConfig, harnessConfig, suitesIn } from './config-text.ts';
import { chooseFolder, chooseName, read, write } from './places.ts';

interface Harness extends QuickPickItem {
  /** Undefined for the embedded world. */
  adapter?: Uri;
}

const MOST_ADAPTERS = 200;

/** Asks for the harness and a name, writes `NAME.training.yaml` at the folder's root and opens it. */
export async function newConfig(extension: Uri): Promise<void> {
  const folder = await chooseFolder();
  if (!folder) return;
  const title = l10n.t('New Training Config');
  const found = await workspace.findFiles(
    new RelativePattern(folder, ADAPTER_FILES),
    '**/{node_modules,runs}/**',
    MOST_ADAPTERS,
  );
  const harnesses: Harness[] = [
    {
      label: l10n.t('Embedded world'),
      detail: l10n.t('A robot arm on a table in this machine: trains in minutes, needs nothing'),
    },
  ];
  for (const adapter of found)
    if (speaksOfUs(await read(adapter)))
      harnesses.push({ label: adapter.path.slice(folder.uri.path.length + 1), adapter });
  const chosen = await pick(harnesses, {
    title,
    placeHolder: l10n.t('Which harness does the planner drive?'),
    ignoreFocusOut: true,
  });
  if (!chosen) return;
  const { adapter } = chosen;
  const fileOf = (name: string) => Uri.joinPath(folder.uri, `${name}.training.yaml`);
  const proposed = adapter ? (/([^/]+)\.adapter\.[cm]?[jt]s$/.exec(adapter.path)?.[1] ?? 'my-robot') : 'tabletop';
  const name = await chooseName(title, l10n.t('Name of the training'), proposed, fileOf);
  if (name === undefined) return;
  const text = adapter
    ? harnessConfig(name, `./${chosen.label}`, suitesIn(await read(adapter)))
    : embeddedConfig(name, await read(Uri.joinPath(extension, 'examples', 'demo.training.yaml')));
  await write(fileOf(name), text);
  await window.showTextDocument(fileOf(name));
}
