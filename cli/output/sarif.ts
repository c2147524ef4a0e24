/** Findings as SARIF 2.1.0, which code hosts show beside the changes of a pull request. */
import { relative, resolve } from 'node:path';
import { CONFIG_FINDINGS } from '../../language-server/service/configs/catalogue.ts';
import type { Finding } from '../../protocol/finding.ts';

const LEVELS = { error: 'error', warning: 'warning', hint: 'note' } as const;

/** @param folder paths are written relative to it. */
export function sarifLog(findings: readonly Finding[], version: string, folder: string): Record<string, unknown> {
  const codes = [...new Set(findings.map((finding) => finding.code))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'agentic-robo-rl',
            semanticVersion: version,
            rules: codes.map((id) => ({ id, shortDescription: { text: CONFIG_FINDINGS[id] ?? id } })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => ({
          ruleId: finding.code,
          ruleIndex: codes.indexOf(finding.code),
          level: LEVELS[finding.severity],
          message: { text: finding.message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: uriOf(finding.file ?? '', folder) },
                region: {
                  startLine: finding.line,
                  startColumn: finding.column,
                  endLine: finding.endLine,
                  endColumn: finding.endColumn,
                },
              },
            },
          ],
        })),
      },
    ],
  };
}

/** A relative reference; a file outside the folder gets an absolute one. */
function uriOf(file: string, folder: string): string {
  const path = relative(folder, resolve(folder, file)).replaceAll('\\', '/');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('..')
    ? `file://${resolve(folder, file).split('/').map(encodeURIComponent).join('/')}`
    : encoded;
}
