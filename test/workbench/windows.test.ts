/** Several windows on one workspace, and several folders in one window: a daemon a folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL } from '../full.ts';
import { greeted } from '../integration/daemon-raw.ts';
import { journalOf } from '../integration/quick-run.ts';
import { heldHarness, holdEpisodes, quickTraining } from './bed/quick-workspace.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

const AT_WORK = /quick: .*\d+\/\d+/;
/** Of each of two tasks; most of them are never played. */
const EPISODES = 10;

const prepare = heldHarness(2);

describe.skipIf(vscode === null)('windows and folders', () => {
  it('two windows on one workspace share one daemon: what one starts, the other sees and stops', async () => {
    const { window, folder, daemon, another } = await session(
      { 'quick.training.json': quickTraining('quick', EPISODES) },
      { prepare },
    );
    const other = await another();
    await window.openFile('quick.training.json');
    // Both windows want a daemon at the same moment.
    await Promise.all([
      window.palette('AgenticRoboRL: Start Training'),
      other
        .palette('AgenticRoboRL: Compare Runs...')
        .then(() => other.notification('two finished evaluations').waitFor()),
    ]);
    await window.statusItem(AT_WORK).waitFor();
    await other.statusItem(AT_WORK).waitFor();
    const record = daemon();
    if (!record) throw new Error('no daemon has left a record');
    const raw = await greeted(record);
    // Both windows and this test.
    expect((await raw.ask('daemon.status')).result).toMatchObject({ pid: record.pid, clients: 3 });

    // The newest episode comes into sight, and the one after it.
    await window.palette('AgenticRoboRL: Follow the Newest Episode');
    const newest = window.page.locator('.pane-body .monaco-list-row.selected', { hasText: /^attempt \d+/ });
    await newest.waitFor();
    // The label names the episode.
    const label = () => newest.getAttribute('aria-label');
    const first = await label();
    holdEpisodes(folder, 1);
    await expect.poll(label).not.toBe(first);
    await window.screenshot('newest-followed');
    await window.palette('AgenticRoboRL: Stop Following the Newest Episode');

    await other.palette('AgenticRoboRL: Stop Training...');
    await other.choice('After the running episodes').click();
    for (const one of [window, other]) await one.statusItem(/quick: stopping/).waitFor();
    holdEpisodes(folder, 1);
    for (const one of [window, other]) await one.notification('has stopped').waitFor();
    await other.screenshot('two-windows');
    const { result } = await raw.ask('runs.list');
    const [{ run }] = result as { run: string }[];
    expect(result).toHaveLength(1);
    expect(journalOf(join(folder, run)).at(-1)).toEqual({ type: 'run-stopped', reason: 'episode' });
    expect(daemon()?.pid).toBe(record.pid);
  });

  it.runIf(FULL)(
    'a workspace of two folders has a daemon for each, and the status item is that of the active editor',
    async () => {
      let second = '';
      const { window, folder, daemon } = await session(
        { 'quick.training.json': quickTraining('quick', EPISODES) },
        {
          prepare,
          place(first) {
            second = join(dirname(first), 'zweiter Ordner');
            mkdirSync(second);
            prepare(second);
            writeFileSync(join(second, 'other.training.json'), quickTraining('other', EPISODES));
            const file = join(dirname(first), 'both.code-workspace');
            writeFileSync(file, JSON.stringify({ folders: [{ path: first }, { path: second }] }));
            return file;
          },
        },
      );
      await window.openFile('quick.training.json');
      await window.palette('AgenticRoboRL: Start Training');
      await window.choice('quick.training.json').click();
      await window.statusItem(AT_WORK).waitFor();
      expect(daemon(second)).toBeUndefined();
      await window.openFile('other.training.json');
      // The other folder is at rest, and can be trained in.
      await window.statusItem(/^\s*AgenticRoboRL\s*$/).waitFor();
      await window.palette('AgenticRoboRL: Start Training');
      await window.choice('other.training.json').click();
      await window.statusItem(/other: .*\d+\/\d+/).waitFor();
      await window.openFile('quick.training.json');
      await window.statusItem(AT_WORK).waitFor();
      const rows = window.page.locator('.pane-body .monaco-list-row');
      for (const text of ['zweiter Ordner', /^quick-\d{8}T/, /^other-\d{8}T/])
        await rows.filter({ hasText: text }).first().waitFor();
      await window.screenshot('two-folders');
      const pids = [daemon()?.pid, daemon(second)?.pid];
      expect(pids.every((pid) => pid !== undefined)).toBe(true);
      expect(new Set(pids).size).toBe(2);
      expect(daemon()?.workspace).toBe(folder);
      expect(daemon(second)?.workspace).toBe(second);
    },
  );
});
