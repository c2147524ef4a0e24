// `npm run screenshots`: takes the pictures that the README shows from those that the tests in a real VS Code have made.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { indexedPng } from './indexed-png.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const made = join(root, 'test/workbench/screenshots');
const images = join(root, 'docs/images');
/** Name in docs/images -> of the screenshot. */
const PICTURES = { findings: 'readme-findings', run: 'readme-run', replay: 'readme-replay' };

mkdirSync(images, { recursive: true });
for (const [name, screenshot] of Object.entries(PICTURES)) {
  const source = join(made, `${screenshot}.png`);
  if (!existsSync(source)) {
    console.error(`${source} is missing: run "npm run test:workbench" where there is a VS Code to test in`);
    process.exit(1);
  }
  const bytes = indexedPng(readFileSync(source));
  writeFileSync(join(images, `${name}.png`), bytes);
  console.log(`docs/images/${name}.png: ${Math.round(bytes.length / 1000)} kB`);
}
