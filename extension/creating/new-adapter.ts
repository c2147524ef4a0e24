/** New Adapter: a template that needs little change, with types and without an installation. */
import { env, l10n, type QuickPickItem, Uri, window } from 'vscode';
import { tell } from '../messages.ts';
import { pick } from '../picking.ts';
import { provideTypes } from './adapter-types.ts';
import { chooseFolder, chooseName, read, write } from './places.ts';
import { pathsEntry } from './tsconfig-text.ts';

/** What a template calls its harness; the user's name takes its place. */
const PLACEHOLDER = "'my-harness'";

interface Template extends QuickPickItem {
  /** `media/templates/NAME.adapter.ts` */
  template: string;
  /** Proposed name. */
  name: string;
}

function templates(): Template[] {
  return [
    {
      template: 'skills',
      name: 'my-robot',
      label: l10n.t('Skills'),
      detail: l10n.t('The planner calls skills (tools) and sees what happened'),
    },
    {
      template: 'code',
      name: 'my-robot',
      label: l10n.t('Code'),
      detail: l10n.t('The planner writes control code that is run in a sandbox'),
    },
    { template: 'rpent', name: 'rpent', label: 'RPent', detail: l10n.t('The harness of Harness VLA, on LIBERO-PRO') },
    { template: 'cap-x', name: 'cap-x', label: 'CaP-X', detail: l10n.t('Code as policies, one trial an episode') },
    {
      template: 'libero-logs',
      name: 'libero',
      label: l10n.t('LIBERO logs'),
      detail: l10n.t('An evaluation script that writes episodes.jsonl or prints its verdict'),
    },
  ];
}

/** Asks for template and name, writes `adapters/NAME.adapter.ts` and opens it. */
export async function newAdapter(extension: Uri): Promise<void> {
  const folder = await chooseFolder();
  if (!folder) return;
  const title = l10n.t('New Adapter');
  const chosen = await pick(templates(), {
    title,
    placeHolder: l10n.t('What kind of harness is it?'),
    ignoreFocusOut: true,
  });
  if (!chosen) return;
  const adapters = Uri.joinPath(folder.uri, 'adapters');
  const fileOf = (name: string) => Uri.joinPath(adapters, `${name}.adapter.ts`);
  const name = await chooseName(title, l10n.t('Name of the harness'), chosen.name, fileOf);
  if (name === undefined) return;
  const text = await read(Uri.joinPath(extension, 'media', 'templates', `${chosen.template}.adapter.ts`));
  await write(fileOf(name), text.replace(PLACEHOLDER, `'${name}'`));
  const untouched = await provideTypes(extension, folder, adapters);
  await window.showTextDocument(fileOf(name));
  if (!untouched) return;
  const copy = l10n.t('Copy the Entry');
  const answer = await tell(
    l10n.t(
      'For types in adapters, put an entry for agentic-robo-rl into compilerOptions.paths of {0}.',
      untouched.path.slice(folder.uri.path.length + 1),
    ),
    copy,
  );
  if (answer !== copy) return;
  const depth = untouched.path.slice(folder.uri.path.length + 1).split('/').length - 1;
  const types = `${'../'.repeat(depth) || './'}.agentic-robo-rl/types/agentic-robo-rl.d.ts`;
  await env.clipboard.writeText(JSON.stringify({ paths: pathsEntry(types) }).slice(1, -1));
}
