/** The configs of test/fixtures/configs and what is expected of each. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSurroundings, readShipped } from '../../../../language-server/handlers/surroundings.ts';
import { type ConfigFinding, configFindings, openConfig } from '../../../../language-server/service/configs/index.ts';

export const root = join(import.meta.dirname, '../../../..');
export const corpusFolder = join(root, 'test/fixtures/configs');
const shipped = readShipped(join(root, 'dist'));

export const expected: Record<string, string[]> = JSON.parse(readFileSync(join(corpusFolder, 'expected.json'), 'utf8'));
export const corpusFiles = readdirSync(corpusFolder)
  .filter((name) => /\.training\.(yaml|json)$/.test(name))
  .sort();

export function corpusText(name: string): string {
  return readFileSync(join(corpusFolder, name), 'utf8');
}

export function findingsIn(text: string, name: string, folder = corpusFolder): ConfigFinding[] {
  return configFindings(openConfig(text, name), fileSurroundings(folder, shipped));
}

/** `4:7-4:12 error unknown-key`, places from 1. */
export function line({ code, severity, range: { start, end } }: ConfigFinding): string {
  const from = `${start.line + 1}:${start.character + 1}`;
  return `${from}-${end.line + 1}:${end.character + 1} ${severity} ${code}`;
}
