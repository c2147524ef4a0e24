/** One episode, a training, its policies served and compared: commands from the palette and the tree of policies. */
import { cpSync } from 'node:fs';
import { get } from 'node:http';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quickConfig } from '../integration/quick-run.ts';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures');
const FINISH_MS = 200_000;
const files = {
  'quick.training.json': JSON.stringify({
    ...quickConfig,
    harness: { ...quickConfig.harness, adapter: './harness/quick.adapter.mjs', concurrency: 1 },
  }),
};
function prepare(folder: string): void {
  cpSync(join(FIXTURES, 'quick-harness'), join(folder, 'harness'), { recursive: true });
  cpSync(join(FIXTURES, 'harnesses'), join(folder, 'harnesses'), { recursive: true });
}

describe.skipIf(vscodeFolder === null)('planners in the editor', () => {
  it('play one episode, are trained, listed, served and compared', async () => {
    const { window } = await session(files, { prepare });
    const rows = window.page.locator('.pane-body .monaco-list-row');
    const dismiss = () => window.palette('Notifications: Clear All Notifications');
    await window.openFile('quick.training.json');
    await window.palette('AgenticRoboRL: Run One Episode...');
    await window.choice('quick/0').click();
    await window.page.locator('.quick-input-widget', { hasText: 'Initial state of quick/0' }).waitFor();
    await window.input.fill('3');
    await window.page.keyboard.press('Enter');
    await window.choice('The teacher of the config').click();
    await window.notification('has finished').waitFor({ timeout: FINISH_MS });
    const episode = rows.filter({ hasText: /quick-episode-\d{8}T/ }).first();
    await episode.waitFor();
    for (const row of [episode, rows.filter({ hasText: 'teacher episodes' }).first()]) await row.click();
    await rows
      .filter({ hasText: /quick\/0, state 3/ })
      .first()
      .waitFor();
    await window.screenshot('one-episode');
    await dismiss();

    await window.palette('AgenticRoboRL: Start Training');
    await window.notification(/quick-\d{8}T\d{6}Z has finished/).waitFor({ timeout: FINISH_MS });
    await dismiss();
    const policies = rows.filter({ hasText: /quick-\d{8}T.*3 policies/ });
    await policies.click();
    const tuned = rows.filter({ hasText: 'v1: fine-tuned' }).filter({ hasText: 'on validation' });
    await tuned.waitFor();
    await tuned.hover();
    await tuned.getByRole('button', { name: 'Serve Checkpoint...' }).click();
    const told = window.notification('is served at');
    await told.waitFor();
    const [, url] = /served at (http:\/\/127\.0\.0\.1:\d+\/v1)/.exec((await told.textContent()) ?? '') ?? [];
    // Nobody is answered without its key.
    const status = await new Promise((done, failed) =>
      get(`${url}/models`, (answer) => done(answer.resume().statusCode)).on('error', failed),
    );
    expect(status).toBe(401);
    const served = rows.filter({ hasText: 'served: quick' });
    await served.waitFor();
    await window.screenshot('policy-served');
    await dismiss();
    await window.palette('AgenticRoboRL: Stop Serving');
    await served.waitFor({ state: 'detached' });

    // Narrowed to what was chosen for the update, then to a task that there is not, then everything again.
    await window.palette('AgenticRoboRL: Focus on Runs View');
    const run = rows.filter({ hasText: /^quick-\d{8}T/ }).first();
    await run.click();
    await rows.filter({ hasText: 'evaluation ' }).first().waitFor();
    await window.palette('AgenticRoboRL: Filter Runs...');
    await window.choice('What became of a call').click();
    await window.choice(/^selected/).click();
    await rows.filter({ hasText: /^round 1/ }).click();
    await rows
      .filter({ hasText: /state \d+, attempt \d+, turn \d+selected, advantage [+-]\d/ })
      .first()
      .waitFor();
    expect(await rows.filter({ hasText: /evaluation |teacher episodes/ }).count()).toBe(0);
    await window.screenshot('runs-filtered');
    await window.palette('AgenticRoboRL: Filter Runs...');
    await window.choice('Task').click();
    await window.input.fill('elsewhere');
    await window.page.keyboard.press('Enter');
    await rows.filter({ hasText: 'nothing here fits the filter' }).waitFor();
    await window.palette('AgenticRoboRL: Clear the Filter of Runs');
    await rows.filter({ hasText: 'evaluation ' }).first().waitFor();

    await window.palette('AgenticRoboRL: Compare Runs...');
    await window.page.locator('.quick-input-widget', { hasText: 'Compare Runs' }).waitFor();
    await window.choice('solved').click();
    await window.page.locator('.quick-input-widget input[placeholder^="Second evaluation"]').waitFor();
    await window.choice('solved').click();
    await window.page.locator('.view-line', { hasText: 'overall' }).first().waitFor();
    await window.screenshot('runs-compared');
  });
});
