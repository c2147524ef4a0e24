/** Findings as SARIF 2.1.0, which code hosts show beside the changes of a pull request. */
import { relative, resolve } from 'node:path';
import type { Finding } from '../../protocol/finding.ts';

const LEVELS = { error: 'error', warning: 'warning', hint: 'note' } as const;

/** The page that explains a code: Markdown, and where it lies. */
export interface FindingPage {
  text: string;
  href: string;
}

/**
 * @param folder paths are written relative to it.
 * @param pageOf the page of a code; a rule gets its description and its help from there.
 */
export function sarifLog(
  findings: readonly Finding[],
  version: string,
  folder: string,
  pageOf: (code: string) => FindingPage | undefined,
): Record<string, unknown> {
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
            rules: codes.map((id) => ruleOf(id, pageOf(id))),
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

/** `helpUri` is for viewers on this machine, `help` for code hosts, which show its Markdown. */
function ruleOf(id: string, page: FindingPage | undefined): Record<string, unknown> {
  if (!page) return { id, shortDescription: { text: id } };
  return {
    id,
    shortDescription: { text: descriptionIn(page.text) ?? id },
    helpUri: page.href,
    help: { text: page.text, markdown: page.text },
  };
}

/** The first paragraph of a page after its title and the line that says what it is about, on one line. */
function descriptionIn(page: string): string | undefined {
  return page
    .split(/\n{2,}/)[2]
    ?.replaceAll('\n', ' ')
    .trim();
}

/** A relative reference; a file outside the folder gets an absolute one. */
function uriOf(file: string, folder: string): string {
  const path = relative(folder, resolve(folder, file)).replaceAll('\\', '/');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('..')
    ? `file://${resolve(folder, file).split('/').map(encodeURIComponent).join('/')}`
    : encoded;
}
