/** The configs of test/fixtures/configs and what is expected of each. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSurroundings, readShipped } from '../../../../language-server/handlers/surroundings.ts';
import { type ConfigFinding, configFindings, openConfig } from '../../../../language-server/service/configs/index.ts';
import { type CheckpointProblem, inspectCheckpoint } from '../../../../trainer-daemon/planner/inspect-checkpoint.ts';

export const root = join(import.meta.dirname, '../../../..');
export const corpusFolder = join(root, 'test/fixtures/configs');
const shipped = readShipped(join(root, 'dist'));

/** What is wrong with the checkpoints beside the configs, which the server learns from a program of its own. */
const inspected = new Map<string, CheckpointProblem[]>();
for (const name of readdirSync(join(corpusFolder, 'beside'), { withFileTypes: true })) {
  const folder = join(corpusFolder, 'beside', name.name);
  if (name.isDirectory()) inspected.set(folder, (await inspectCheckpoint(folder)).problems);
}

export const expected: Record<string, string[]> = JSON.parse(readFileSync(join(corpusFolder, 'expected.json'), 'utf8'));
export const corpusFiles = readdirSync(corpusFolder)
  .filter((name) => /\.training\.(yaml|json)$/.test(name))
  .sort();

export function corpusText(name: string): string {
  return readFileSync(join(corpusFolder, name), 'utf8');
}

export function findingsIn(text: string, name: string, folder = corpusFolder): ConfigFinding[] {
  return configFindings(
    openConfig(text, name),
    fileSurroundings(folder, shipped, (checkpoint) => inspected.get(checkpoint)),
  );
}

/** `4:7-4:12 error unknown-key`, places from 1. */
export function line({ code, severity, range: { start, end } }: ConfigFinding): string {
  const from = `${start.line + 1}:${start.character + 1}`;
  return `${from}-${end.line + 1}:${end.character + 1} ${severity} ${code}`;
}
