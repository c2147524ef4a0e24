/** docs/replay.md tells every name that can be asked about, and nothing that there is not. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { FILTERS } from '../../../../extension/replay/debug/exception-filters.ts';
import { launchSchema } from '../../../../extension/replay/debug/launch.ts';
import { facts, parseCondition } from '../../../../recordings/replay/facts.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/replay.md'), 'utf8');

it('lists the names as they are', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\w+) +\| ([\w ]+?) +\| (.*?) +\|$/gm)].map(([, ...cells]) => cells);
  const levels = { call: 'call', part: 'tool call', episode: 'episode' };
  expect(rows).toEqual(
    Object.entries(facts).map(([name, { scope, level, words }]) => [
      name,
      scope[0].toUpperCase() + scope.slice(1),
      levels[level],
      words,
    ]),
  );
});

it('shows expressions and launch arguments that there are', () => {
  for (const [, text] of page.matchAll(/`([a-z]\w*(?:[.[]| [<>=]=? )[^`{}]*)`/g)) {
    if (/\.(?:jsonl|json|mjs|episode|length)\b/.test(text) || text.startsWith('node ')) continue;
    expect(() => parseCondition(text), text).not.toThrow();
  }
  const [, launch] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  expect(launchSchema.parse(JSON.parse(launch))).toMatchObject({ turn: 4, group: true });
  expect(FILTERS).toHaveLength(7);
});
