/**
 * From a change to published findings: our language server beside yaml-language-server with the config's generated
 * JSON Schema, on the same 2,000-line config, in turn. Both are built bundles or packages as users run them, each with
 * its own pause after the last keystroke; processor time leaves that pause out.
 *
 * The goal is twice as fast as it in a change and in a start, and half its memory. What can be had, by profile (Node 20):
 * - A change is a pause (as long as the last reading took, 5-30 ms), 12-15 ms of reading, nine tenths of it the YAML
 *   parser's, which theirs uses, too, and 3 ms of transport; theirs pauses 200 ms. Predicted: 4 to 8 times faster on an
 *   idle machine, less under load; in processor time no difference.
 * - A start is 50 ms of Node, 80 ms of loading (the protocol's library, the schema), 140 ms of reading with cold code, of
 *   which a third is garbage collection: 0.27 s of processor time beside 0.52. Predicted: 1.9 times.
 * - Memory: Node alone takes 43 MB and what both load 56 MB; theirs ends at 112 MB, so half of it is out of reach. A small
 *   heap (language-server/engine.ts) gives 80 MB instead of 130. Predicted: 1.4 times less.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic } from 'vscode-languageserver/node';
import { jsonSchema } from '../protocol/schemas.ts';
import { LspProbe } from './lsp-probe.ts';
import { median, ratios, spread } from './measure.ts';
import type { BenchTable } from './table.ts';

const CHANGES = 20;
const WARMUP = 6;
const STARTS = 3;
/** Between changes, milliseconds: longer than either server's pause. */
const REST = 350;

const root = resolve(import.meta.dirname, '../..');
const ours = join(root, 'dist/language-server.mjs');
const theirs = join(root, 'node_modules/yaml-language-server/bin/yaml-language-server');

/** A config of 2,000 lines: twenty suites with their tasks one a line. `rounds` is on the second line. */
function longConfig(): string {
  const suites = Array.from({ length: 20 }, (_, i) => `suite_${i}`);
  const lines = ['rl:', '  rounds: 9', 'version: 1', 'name: long', 'harness:', '  adapter: ./mine.ts', '  suites:'];
  lines.push(...suites.map((suite) => `    - ${suite}`), '  tasks:');
  for (const suite of suites) lines.push(`    ${suite}:`, ...Array.from({ length: 97 }, (_, i) => `      - ${i}`));
  while (lines.length < 2000) lines.push(`# line ${lines.length + 1}`);
  return `${lines.join('\n')}\n`;
}

/** An adapter of 1,000 lines; `valid` is on the last line but two. */
function longAdapter(): string {
  const lines = ["import { defineAdapter } from 'agentic-robo-rl';"];
  for (let i = 0; lines.length < 985; i++)
    lines.push(`function part${i}(x: number): number {`, `  return x > ${i} ? x * ${i + 1} : x + ${i};`, '}');
  lines.push(
    'export default defineAdapter({',
    "  name: 'long',",
    "  launch: ({ baseUrl, apiKey }) => ({ command: 'play', args: [], env: { URL: baseUrl, KEY: apiKey } }),",
    '  outcome: ({ episode: { task, init, attempt }, readJson }) => ({',
    '    task,',
    '    init,',
    '    attempt,',
    "    reward: (readJson('result.json') as { success?: boolean } | undefined)?.success === true ? 1 : 0,",
    '    valid: true,',
    '  }),',
    '});',
  );
  return `${lines.join('\n')}\n`;
}

const onLine =
  (line: number) =>
  (found: Diagnostic[]): boolean =>
    found.some(({ range }) => range.start.line === line);
const notOnLine =
  (line: number) =>
  (found: Diagnostic[]): boolean =>
    !onLine(line)(found);

export default async function languageServer(): Promise<BenchTable[]> {
  const folder = mkdtempSync(join(tmpdir(), 'arrl-lsp-'));
  try {
    const schema = join(folder, 'schema.json');
    writeFileSync(schema, JSON.stringify(jsonSchema('config')));
    writeFileSync(join(folder, 'mine.ts'), '');
    const uri = pathToFileURL(join(folder, 'long.training.yaml')).href;
    const yaml = {
      validate: true,
      schemaStore: { enable: false, url: '' },
      schemas: { [pathToFileURL(schema).href]: '*.training.yaml' },
    };
    const startOurs = () => new LspProbe(ours);
    const startTheirs = () => new LspProbe(theirs, { yaml });
    const text = longConfig();

    const starts: [number[], number[]] = [[], []];
    const startProcessor: [number[], number[]] = [[], []];
    for (let i = -1; i < STARTS; i++)
      for (const [side, begin] of [startOurs, startTheirs].entries()) {
        const started = performance.now();
        const probe = begin();
        await probe.start();
        await probe.open(uri, 'yaml', text.replace('rounds: 9', 'rounds: x'), onLine(1));
        if (i >= 0) {
          starts[side].push(performance.now() - started);
          startProcessor[side].push(probe.processorTime());
        }
        probe.end();
      }

    const probes = [startOurs(), startTheirs()];
    const times: [number[], number[]] = [[], []];
    const processor: [number[], number[]] = [[], []];
    for (const probe of probes) {
      await probe.start();
      await probe.open(uri, 'yaml', text.replace('rounds: 9', 'rounds: x'), onLine(1));
    }
    for (let i = -WARMUP; i < CHANGES; i++)
      for (const [side, probe] of probes.entries()) {
        const before = probe.processorTime();
        // 9 becomes x, x becomes 9: each time the findings change.
        const broken = i % 2 !== 0;
        const time = await probe.change(uri, 1, [10, 11], broken ? 'x' : '9', broken ? onLine(1) : notOnLine(1));
        await new Promise((resume) => setTimeout(resume, REST));
        if (i < 0) continue;
        times[side].push(time);
        processor[side].push(probe.processorTime() - before);
      }
    const memory = probes.map((probe) => probe.memory());
    for (const probe of probes) probe.end();

    const row = (what: string, [a, b]: [number[], number[]]) => [
      what,
      spread(a, 0),
      p95(a).toFixed(0),
      spread(b, 0),
      p95(b).toFixed(0),
      spread(ratios(b, a), 1),
    ];
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const means = (what: string, [a, b]: [number[], number[]]) => [
      what,
      mean(a).toFixed(0),
      '',
      mean(b).toFixed(0),
      '',
      (mean(b) / mean(a)).toFixed(1),
    ];
    const config: BenchTable = {
      title: 'A training config of 2,000 lines',
      columns: ['milliseconds', 'ours', 'p95', 'yaml-language-server', 'p95', 'times faster'],
      rows: [
        row('change to published findings', times),
        means('processor time of a change (mean)', processor),
        row('start to first findings', starts),
        means('processor time of a start (mean)', startProcessor),
        [
          'memory after warm-up (MB)',
          memory[0].toFixed(0),
          '',
          memory[1].toFixed(0),
          '',
          (memory[1] / memory[0]).toFixed(1),
        ],
      ],
      note: `yaml-language-server 1.25.0 with the generated schema and nothing fetched; it checks types and keys, ours also what keys mean together and the files they name. Its pause after a keystroke is 200 ms, ours as long as the last reading took, at most 30 ms. Medians (least-most) of ${CHANGES} changes and ${STARTS} starts, in turn.`,
    };
    return [config, await adapterTable(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function adapterTable(folder: string): Promise<BenchTable> {
  const text = longAdapter();
  const lines = text.split('\n');
  const line = lines.findIndex((one) => one.includes('? 1 : 0,'));
  const uri = pathToFileURL(join(folder, 'long.adapter.ts')).href;
  const column = lines[line].indexOf('1 : 0') + 4;
  const random = (found: Diagnostic[]) => found.some(({ code }) => code === 'outcome-not-deterministic');
  const starts: number[] = [];
  const times: number[] = [];
  let memory = 0;
  for (let i = 0; i < 3; i++) {
    const started = performance.now();
    const probe = new LspProbe(ours);
    await probe.start();
    await probe.open(uri, 'typescript', text.replace('? 1 : 0,', '? 1 : Math.random(),'), random);
    starts.push(performance.now() - started);
    if (i === 2) {
      for (let change = -WARMUP; change < CHANGES; change++) {
        const mended = change % 2 === 0;
        const word = mended ? '0' : 'Math.random()';
        const before = mended ? 'Math.random()' : '0';
        const time = await probe.change(
          uri,
          line,
          [column, column + before.length],
          word,
          (found) => random(found) !== mended,
        );
        if (change >= 0) times.push(time);
        await new Promise((resume) => setTimeout(resume, 100));
      }
      memory = probe.memory();
    }
    probe.end();
  }
  return {
    title: 'An adapter of 1,000 lines',
    columns: ['', 'ours', 'p95'],
    rows: [
      ['change to published findings (ms)', spread(times, 0), p95(times).toFixed(0)],
      ['start to first findings (ms)', spread(starts, 0), ''],
      ['memory after warm-up (MB)', memory.toFixed(0), ''],
    ],
    note: `Median (least-most); fastest start ${Math.min(...starts).toFixed(0)} ms, median of starts ${median(starts).toFixed(0)} ms.`,
  };
}

function p95(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * 0.95) - 1)];
}
