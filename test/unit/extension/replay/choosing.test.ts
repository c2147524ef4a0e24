import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { callsOf, recordedGroup, SECTION, TURNS } from '../../recordings/replay/hand-made.ts';
import { runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';

interface Item {
  label: string;
  description: string;
}
let shown: Item[] = [];
/** What a person takes of the list. */
let take: (items: Item[]) => Item | undefined = () => undefined;

vi.mock('vscode', () => ({
  window: {
    showQuickPick: async (items: Item[]) => {
      shown = items;
      return take(items);
    },
  },
  l10n: {
    t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, k: string) => String(values[Number(k)])),
  },
}));

const { chooseEpisode } = await import('../../../../extension/replay/choosing.ts');

beforeEach(() => {
  shown = [];
  take = () => undefined;
});

function editEpisodes(folder: string, change: (lines: string[]) => string[]): void {
  const path = join(folder, SECTION, 'episodes.jsonl');
  writeFileSync(path, change(readFileSync(path, 'utf8').split('\n')).join('\n'));
}
const words = () => shown.map(({ label, description }) => `${label} | ${description}`);

describe('picking an episode', () => {
  it('lists those whose record is damaged or newer with the reason, and opens them by their id', async () => {
    const folder = await recordedGroup({
      more: async (run) => void (await run.journal({ type: 'run-finished', seconds: 1 })),
    });
    editEpisodes(folder, ([e0, e1, e2, ...rest]) => [
      e0.replace('"reward":1', '"reward":"high"'),
      e1.replace('"version":1', '"version":9'),
      e2.replace('"id":"e2"', '"id":7'),
      '{"version":1,"id":"e',
      ...rest,
    ]);
    take = (items) => items.find(({ description }) => description.includes('reward: '));
    const target = { directory: folder, section: SECTION };
    expect(await chooseEpisode(target)).toEqual({ ...target, episode: 'e0' });
    expect(words()).toEqual([
      expect.stringMatching(/^\$\(question\) e2 \| no record: /),
      expect.stringMatching(/^\$\(pass\) .*state 12, attempt 0 \| reward 1/),
      expect.stringMatching(/^\$\(error\) \? \| damaged: episodes\.jsonl, line 4: is no JSON/),
      expect.stringMatching(/^\$\(error\) .*state 11, attempt 2 \| damaged: episodes\.jsonl, line 3: id: /),
      expect.stringMatching(/^\$\(error\) .*state 11, attempt 1 \| damaged: .*line 2: written by a newer version/),
      expect.stringMatching(/^\$\(error\) .*state 11, attempt 0 \| damaged: .*line 1: reward: /),
    ]);
    take = (items) => items[2];
    await expect(chooseEpisode(target)).rejects.toThrow('cannot be opened, not even its id can be read: damaged: ');
  });

  it('lists an episode that is running, also as the first of its section', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const id = '1f0c2ab9.r1.s-4.i17.a2.0';
    for (const one of callsOf(id, TURNS.slice(0, 2))) await run.section(SECTION).appendCall(one);
    take = ([first]) => first;
    expect(await chooseEpisode({ directory: folder })).toEqual({ directory: folder, section: SECTION, episode: id });
    expect(words()).toEqual(['$(sync) s-4, state 17, attempt 2 | running']);
    // A line that is just being written is no damage.
    appendFileSync(join(folder, SECTION, 'episodes.jsonl'), '{"version":1,"id":"1f0c');
    await chooseEpisode({ directory: folder });
    expect(words()).toEqual(['$(sync) s-4, state 17, attempt 2 | running']);
    await run.close();
  });
});
