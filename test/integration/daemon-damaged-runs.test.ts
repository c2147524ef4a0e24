/** Runs that can be read in part, or not at all, as the daemon, the tree of runs and a run's page tell of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { RunPageSource } from '../../extension/run-page/source.ts';
import { RunList } from '../../extension/runs/run-list.ts';
import type { JournalEvent } from '../../protocol/journal.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';
import { bench } from './daemon-bench.ts';
import { quick } from './quick-run.ts';

const PATIENCE = { timeout: 20_000, interval: 100 };

async function finishedRun(folder: string, name: string): Promise<string> {
  const directory = join(folder, 'runs', name);
  const store = await createRun(directory, {
    ...{ version: 1, id: '0123abcd', name, createdAt: new Date().toISOString() },
    config: quick() as unknown as Record<string, unknown>,
    ...{ configFolder: folder, software: {}, adapterSha256: null, workspaceCommit: null },
  });
  const events: JournalEvent[] = [
    { type: 'run-started', run: '0123abcd', stages: ['teacher', 'sft'] },
    { type: 'stage-started', stage: 'teacher' },
    { type: 'warning', message: 'one' },
    { type: 'stage-finished', stage: 'teacher', seconds: 1 },
    { type: 'stage-started', stage: 'sft' },
    { type: 'stage-finished', stage: 'sft', seconds: 1 },
    { type: 'run-finished', seconds: 2 },
  ];
  for (const event of events) await store.journal(event);
  await store.close();
  return directory;
}

/** Writes over a line of the journal. */
function damage(directory: string, line: number): void {
  const path = join(directory, 'journal.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  lines[line - 1] = '{"seq":';
  writeFileSync(path, lines.join('\n'));
}

it('a run with a damaged line in the middle of its journal is told to be readable in part', async () => {
  const { folder, client: another } = bench();
  const sound = await finishedRun(folder, 'sound');
  damage(await finishedRun(folder, 'early'), 3);
  damage(await finishedRun(folder, 'late'), 6);
  const client = another();
  await client.start();
  const list = new RunList(client, () => {});
  await list.reload();
  const unread = () => list.all.map((one) => [one.run, one.state, one.unread?.split(':')[0] ?? null]).toSorted();
  // Journals are looked through after they were listed; the daemon tells of what it finds.
  await vi.waitFor(
    () =>
      expect(unread()).toEqual([
        ['runs/early', 'finished', 'journal.jsonl, line 3'],
        ['runs/late', 'finished', 'journal.jsonl, line 6'],
        ['runs/sound', 'finished', null],
      ]),
    PATIENCE,
  );
  list.dispose();

  const log: string[] = [];
  const options = { log: (text: string) => log.push(text), connectionWords: () => null };
  const source = await RunPageSource.open(client, 'runs/late', options);
  // Known from the first look, before the journal is told entry by entry.
  const { head, stages } = source.model.data(Date.now());
  expect(head).toMatchObject({
    state: 'finished',
    unread: expect.stringMatching(/^journal\.jsonl, line 6: is no JSON/),
  });
  expect(stages.map(({ stage, state }) => [stage, state])).toEqual([
    ['teacher', 'done'],
    ['sft', 'unread'],
  ]);
  source.dispose();

  // Damaged while the daemon has it open.
  damage(sound, 2);
  await vi.waitFor(async () => {
    const [{ unread: told }] = (await client.request('runs.list', {})).filter((one) => one.run === 'runs/sound');
    expect(told).toMatch(/line 2/);
  }, PATIENCE);
});

it('a run of a newer format is no damaged one, and its reason begins with what is wrong', async () => {
  const { folder, client: another } = bench();
  const directory = await finishedRun(folder, 'newer');
  const info = JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8'));
  writeFileSync(join(directory, 'run.json'), JSON.stringify({ ...info, version: 2 }));
  const broken = await finishedRun(folder, 'broken');
  writeFileSync(join(broken, 'run.json'), 'nothing');
  const client = another();
  await client.start();
  const listed = await client.request('runs.list', {});
  expect(listed.find(({ run }) => run === 'runs/newer')).toMatchObject({
    ...{ state: 'newer', directory },
    problem: 'written by a newer version of AgenticRoboRL (format 2, this one reads 1); update to read it',
  });
  expect(listed.find(({ run }) => run === 'runs/broken')).toMatchObject({
    ...{ state: 'damaged', directory: broken },
    problem: expect.stringMatching(/^run\.json: is no JSON/),
  });
});
