// The licences of what is bundled or carried along, in one text.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Bundled, but not needed by who installs the command line. */
const BUNDLED_FOR_THE_EDITOR = ['vscode-languageclient', 'typescript6', 'uplot'];
/** Only needed by an installer that is not carried along. */
const INSTALLER_ONLY = new Set(['global-agent', 'adm-zip']);

/** @returns {string} a section for each package: name, version, licence and the text of it where the package has one. */
export function notices(root) {
  const folders = new Set();
  const visit = (name, from) => {
    const folder = [join(from, 'node_modules', name), join(root, 'node_modules', name)].find(existsSync);
    if (!folder || folders.has(folder)) return;
    folders.add(folder);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const next of Object.keys(dependencies)) if (!INSTALLER_ONLY.has(next)) visit(next, folder);
  };
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), ...BUNDLED_FOR_THE_EDITOR]) visit(name, root);
  const sections = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n');
  });
  return `Software of others that is part of this extension.\n\n${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
