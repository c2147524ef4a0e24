// `npm run package [-- --target PLATFORM | --all]`: makes the VSIX of this machine's platform, or of others, from what
// `npm run build` made. Prints each file's name and size.

import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';
import { stage, TARGETS, unstage } from './contents.mjs';
import { notices } from './notices.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const here = `${process.platform}-${process.arch}`;
const { values } = parseArgs({ options: { target: { type: 'string' }, all: { type: 'boolean' } } });
const targets = values.all ? Object.keys(TARGETS) : [values.target ?? here];
for (const target of targets) {
  if (!(target in TARGETS)) {
    console.error(`no such platform: ${target}; there are ${Object.keys(TARGETS).join(', ')}`);
    process.exit(2);
  }
  const folder = mkdtempSync(join(tmpdir(), 'agentic-robo-rl-vsix-'));
  const file = join(root, `agentic-robo-rl-${target}.vsix`);
  try {
    stage(root, folder, target);
    writeFileSync(join(folder, 'ThirdPartyNotices.txt'), notices(root));
    writeFileSync(join(folder, '.vscodeignore'), '# All that was laid here goes in.\n');
    await createVSIX({
      cwd: folder,
      packagePath: file,
      target,
      useYarn: false,
      allowMissingRepository: true,
      // Links of the README lead to files of the package.
      rewriteRelativeLinks: false,
    });
  } finally {
    unstage(folder);
  }
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  console.log(
    `${file.slice(root.length + 1)}: ${megabytes} MB${target === here ? '' : ' (not tried: another platform)'}`,
  );
}
