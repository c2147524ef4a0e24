/** Training from the palette: progress, a reload in the middle, stopping, resuming, and the tree of what was recorded. */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalOf, quickConfig } from '../integration/quick-run.ts';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures');
const EPISODES = 40;

describe.skipIf(vscodeFolder === null)('a training in the editor', () => {
  it('is started, goes on over a reload, is stopped and resumed, and can be looked into', async () => {
    const config = {
      ...quickConfig,
      harness: { ...quickConfig.harness, adapter: './harness/quick.adapter.mjs', concurrency: 1 },
      teacher: { episodesPerTask: EPISODES },
    };
    const { window, folder } = await session(
      { 'quick.training.json': JSON.stringify(config, null, 2) },
      {
        prepare: (at) => {
          cpSync(join(FIXTURES, 'quick-harness'), join(at, 'harness'), { recursive: true });
          // The adapter's teacher.
          cpSync(join(FIXTURES, 'harnesses'), join(at, 'harnesses'), { recursive: true });
        },
      },
    );
    const rows = window.page.locator('.pane-body .monaco-list-row');
    await window.openFile('quick.training.json');
    await window.palette('AgenticRoboRL: Start Training');
    await window.statusItem(/quick: .*\d+\/\d+/).waitFor();
    await rows.filter({ hasText: /quick-\d{8}/ }).waitFor();
    await window.screenshot('training-at-work');

    await window.reload();
    await window.statusItem(/quick: .*\d+\/\d+/).waitFor();
    const row = rows.filter({ hasText: /quick-\d{8}/ });
    const name = /quick-\d{8}T\d{6}Z/.exec((await row.textContent()) ?? '')?.[0] ?? '';
    const run = join(folder, 'runs', name);
    await window.screenshot('training-after-reload');

    await window.palette('AgenticRoboRL: Stop Training...');
    await window.choice('After the running episodes').click();
    await window.notification('has stopped').waitFor();
    expect(journalOf(run).at(-1)).toEqual({ type: 'run-stopped', reason: 'episode' });
    await window.screenshot('training-stopped');
    await window.notification('has stopped').getByRole('button', { name: 'Resume' }).click();
    await window.notification('has finished').waitFor({ timeout: 200_000 });
    const events = journalOf(run).map(({ type }) => type);
    expect(events.filter((type) => type === 'run-started')).toHaveLength(1);
    expect(events.at(-1)).toBe('run-finished');

    // Run -> section -> group -> episode -> call.
    for (const text of [name, 'teacher episodes', /quick\/0, state/, 'attempt 0']) {
      await rows.filter({ hasText: text }).first().click();
    }
    await rows.filter({ hasText: 'turn 0' }).first().waitFor();
    await window.notification('has finished').getByRole('button', { name: 'Show Table' }).click();
    await window.page.locator('.view-line', { hasText: 'overall' }).first().waitFor();
    await window.screenshot('training-finished');
  });
});
