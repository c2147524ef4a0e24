/** The adapters in test/fixtures/adapters with what is expected of each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AdapterCheckOutput, AdapterCheckResult, Finding } from '../../../../language-server/service/contract.ts';
import { sha256 } from '../../../../protocol/random.ts';

export const repository = resolve(import.meta.dirname, '../../../..');
const root = join(repository, 'test/fixtures/adapters');

export interface CorpusFile {
  /** Relative to the corpus: `bad/CODE/NAME.adapter.ts`. */
  path: string;
  code: string;
  bad: boolean;
  text: string;
  /** Lines of the `.findings` file beside it. */
  expected: string[];
  check: AdapterCheckResult | undefined;
}

export function corpus(): CorpusFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.adapter\.(ts|mjs)$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const beside = join(root, path.replace(/\.(ts|mjs)$/, ''));
      const expected = existsSync(`${beside}.findings`)
        ? readFileSync(`${beside}.findings`, 'utf8').trimEnd().split('\n')
        : [];
      const outputs = existsSync(`${beside}.check.json`)
        ? (JSON.parse(readFileSync(`${beside}.check.json`, 'utf8')) as AdapterCheckOutput[])
        : undefined;
      const [kind, code] = path.split('/');
      return { path, code, bad: kind === 'bad', text, expected, check: outputs && checkResult(text, outputs) };
    });
}

/** The document of `check-adapter --json` for a text. */
export function checkResult(text: string, outputs: AdapterCheckOutput[]): AdapterCheckResult {
  const adapter = { name: 'x', file: '/w/x.adapter.ts', sha256: sha256(text), hasScriptedTeacher: false, tasks: {} };
  return { ok: outputs.every((each) => each.problem === null), adapter, outputs };
}

/** Adapters of the product itself: all good. */
export function shipped(): { path: string; text: string }[] {
  const paths = [
    'trainer-daemon/harnesses/result-json/adapter.ts',
    'trainer-daemon/harnesses/tabletop-skills/adapter.ts',
    'trainer-daemon/harnesses/tabletop-skills/blank-adapter.ts',
    'test/fixtures/harnesses/fixture.adapter.ts',
    ...readdirSync(join(repository, 'examples/adapters'))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `examples/adapters/${name}`),
  ];
  return paths.map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
}

/** `code line:column-line:column text`, places from 1 as the `.findings` files have them. */
export function written(text: string, { code, range: { start, end } }: Finding): string {
  const line = text.split('\n')[start.line] ?? '';
  const excerpt =
    start.line === end.line ? line.slice(start.character, end.character) : `${line.slice(start.character)} …`;
  return `${code} ${start.line + 1}:${start.character + 1}-${end.line + 1}:${end.character + 1} ${excerpt}`.trimEnd();
}
