import { describe, expect, it } from 'vitest';
import { sarifLog } from '../../../cli/output/sarif.ts';
import type { Finding } from '../../../protocol/finding.ts';

const finding = (code: string, severity: Finding['severity'], file: string): Finding => ({
  code,
  severity,
  message: `about ${code}`,
  file,
  line: 4,
  column: 7,
  endLine: 4,
  endColumn: 12,
});

/** The required properties of SARIF 2.1.0 (section 3 of the standard), as far as findings use them. */
interface Log {
  version: string;
  runs: {
    tool: {
      driver: {
        name: string;
        rules: { id: string; shortDescription: { text: string }; helpUri?: string; help?: { markdown: string } }[];
      };
    };
    results: {
      ruleId: string;
      ruleIndex: number;
      level: string;
      message: { text: string };
      locations: { physicalLocation: { artifactLocation: { uri: string }; region: Record<string, number> } }[];
    }[];
  }[];
}

describe('the SARIF log', () => {
  const findings = [
    finding('unknown-key', 'error', 'a b/ü.yaml'),
    finding('dual-clip-low', 'hint', '/work/c.yaml'),
    finding('url-without-tls', 'warning', '../d.yaml'),
    finding('unknown-key', 'error', 'a b/ü.yaml'),
  ];
  const page = (code: string) =>
    code === 'url-without-tls'
      ? undefined
      : { text: `# ${code}\n\nAbout configs.\n\nWhat ${code}\nis.\n\n## Why\n\nSo.\n`, href: `file:///p/${code}.md` };
  const log = sarifLog(findings, '1.2.3', '/work', page) as unknown as Log;

  it('has the required parts', () => {
    expect(log.version).toBe('2.1.0');
    expect(log.runs).toHaveLength(1);
    const { driver } = log.runs[0].tool;
    expect(driver.name).toBe('agentic-robo-rl');
    expect(driver.rules.map((rule) => rule.id)).toEqual(['dual-clip-low', 'unknown-key', 'url-without-tls']);
    expect(driver.rules.map((rule) => rule.shortDescription.text)).toEqual([
      'What dual-clip-low is.',
      'What unknown-key is.',
      'url-without-tls',
    ]);
    expect(driver.rules.map((rule) => rule.helpUri)).toEqual([
      'file:///p/dual-clip-low.md',
      'file:///p/unknown-key.md',
      undefined,
    ]);
    expect(driver.rules[0].help?.markdown).toContain('## Why');
    for (const [index, result] of log.runs[0].results.entries()) {
      expect(driver.rules[result.ruleIndex].id).toBe(result.ruleId);
      expect(result.message.text).toBe(findings[index].message);
    }
  });

  it('names levels, files as URIs and regions from 1', () => {
    const { results } = log.runs[0];
    expect(results.map((result) => result.level)).toEqual(['error', 'note', 'warning', 'error']);
    const places = results.map((result) => result.locations[0].physicalLocation);
    expect(places.map((place) => place.artifactLocation.uri)).toEqual([
      'a%20b/%C3%BC.yaml',
      'c.yaml',
      'file:///d.yaml',
      'a%20b/%C3%BC.yaml',
    ]);
    expect(places[0].region).toEqual({ startLine: 4, startColumn: 7, endLine: 4, endColumn: 12 });
  });

  it('has an empty list of results where nothing was found', () => {
    const empty = sarifLog([], '1.2.3', '/work', page) as unknown as Log;
    expect([empty.runs[0].results, empty.runs[0].tool.driver.rules]).toEqual([[], []]);
  });
});
