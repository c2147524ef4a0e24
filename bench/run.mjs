// Runs benchmarks: every bench/*.bench.{ts,mjs}, or those named (`npm run bench -- storage`). Each default-exports a
// function that returns tables (bench/table.ts). Prints them; `--json` prints one document instead. Never fails on a
// figure: a benchmark only measures.

import { readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = import.meta.dirname;
const SUFFIX = /\.bench\.(ts|mjs)$/;
const files = readdirSync(here)
  .filter((file) => SUFFIX.test(file))
  .sort();
const names = files.map((file) => file.replace(SUFFIX, ''));

const asked = process.argv.slice(2).filter((argument) => argument !== '--json');
const json = process.argv.includes('--json');
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are: ${names.join(', ')}`);
  process.exit(2);
}

// Bundles lie inside the package, so that packages left out of them are found.
const out = resolve(here, '../dist/bench');
await mkdir(out, { recursive: true });
const results = {};
for (const [i, file] of files.entries()) {
  if (asked.length > 0 && !asked.includes(names[i])) continue;
  const bundle = join(out, `${names[i]}.mjs`);
  await build({
    entryPoints: [join(here, file)],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['onnxruntime-node', '@mujoco/mujoco', 'esbuild'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const tables = await (await import(pathToFileURL(bundle).href)).default();
  results[names[i]] = tables;
  if (!json) for (const table of tables) console.log(format(table));
}
if (json) console.log(JSON.stringify(results, null, 2));
await rm(out, { recursive: true, force: true });

/** Plain text: a title, columns (texts to the left, numbers to the right), a note. */
function format({ title, columns, rows, note }) {
  const cells = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const numeric = columns.map((_, column) => rows.every((row) => /^[-+~\d.]/.test(String(row[column]))));
  const line = (row) =>
    row
      .map((cell, column) => (numeric[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, line(columns), rule, ...cells.slice(1).map(line), ...(note ? [note] : []), ''].join('\n');
}
