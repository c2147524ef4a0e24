// Runs benchmarks: every bench/*.bench.{ts,mjs}, or those named (`npm run bench -- storage`). Each default-exports a
// function that returns tables (bench/table.ts). Prints them (`--json`: one document instead) and writes each
// benchmark's tables, with the machine they were measured on, to bench/results/NAME.md and NAME.json. Never fails on a
// figure: a benchmark only measures.

import { readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';
import { describeMachine, loadNow } from './machine.mjs';

const here = import.meta.dirname;
const SUFFIX = /\.bench\.(ts|mjs)$/;
const files = readdirSync(here)
  .filter((file) => SUFFIX.test(file))
  .sort();
const names = files.map((file) => file.replace(SUFFIX, ''));

if (process.argv.includes('--help')) {
  console.log(`npm run bench -- [NAME ...] [--json]

Without a name all benchmarks run, one after the other, for an hour or more. They want a
machine without other work. Names:
  ${names.join(', ')}
Tables are printed (--json: one document instead) and written to bench/results/. Peers such
as PyTorch are installed where they can be; where not, a line says so.`);
  process.exit(0);
}
const asked = process.argv.slice(2).filter((argument) => argument !== '--json');
const json = process.argv.includes('--json');
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are: ${names.join(', ')}`);
  process.exit(2);
}

const out = resolve(here, '../dist/bench');
const results = resolve(here, 'results');
await mkdir(out, { recursive: true });
await mkdir(results, { recursive: true });
// The processes that are compared.
const sides = readdirSync(join(here, 'sides')).filter((file) => file.endsWith('.side.ts'));
await bundle(
  out,
  sides.map((file) => ({ in: join(here, 'sides', file), out: file.replace(/\.ts$/, '') })),
);
const printed = {};
for (const [i, file] of files.entries()) {
  const name = names[i];
  if (asked.length > 0 && !asked.includes(name)) continue;
  await bundle(out, [{ in: join(here, file), out: name }]);
  const before = loadNow();
  const started = performance.now();
  let tables;
  try {
    tables = await (await import(pathToFileURL(join(out, `${name}.mjs`)).href)).default();
  } catch (error) {
    console.error(`benchmark ${name} could not be finished: ${error.message}`);
    process.exitCode = 1;
    continue;
  }
  const machine = {
    ...describeMachine(),
    date: new Date().toISOString(),
    minutes: Number(((performance.now() - started) / 60_000).toFixed(1)),
    loadBefore: before,
    loadAfter: loadNow(),
  };
  printed[name] = tables;
  if (!json) for (const table of tables) console.log(plain(table));
  await writeFile(join(results, `${name}.json`), `${JSON.stringify({ benchmark: name, machine, tables }, null, 2)}\n`);
  await writeFile(join(results, `${name}.md`), markdown(name, machine, tables));
}
if (json) console.log(JSON.stringify(printed, null, 2));
await rm(out, { recursive: true, force: true });

/** Plain text: a title, columns (texts to the left, numbers to the right), a note. */
function plain({ title, columns, rows, note }) {
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

function markdown(name, machine, tables) {
  const { date, minutes, loadBefore, loadAfter, ...rest } = machine;
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [
    `# Benchmark: ${name}`,
    '',
    `\`npm run bench -- ${name}\`, ${date.slice(0, 10)}, ${minutes} min. ${Object.values(rest).join('; ')}. Load average before ${loadBefore}, after ${loadAfter}: figures of a machine with other work hold as ratios only.`,
    ...tables.flatMap(({ title, columns, rows, note }) => [
      '',
      `## ${title}`,
      '',
      row(columns),
      row(columns.map(() => '---')),
      ...rows.map(row),
      ...(note ? ['', note] : []),
    ]),
    '',
  ].join('\n');
}
