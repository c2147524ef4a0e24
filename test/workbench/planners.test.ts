/** One episode, a training, its policies served and compared: commands from the palette and the tree of policies. */
import { cpSync, readdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addQuickHarness, quickTraining } from './bed/quick-workspace.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

const FINISH_MS = 200_000;

describe.skipIf(vscode === null)('planners in the editor', () => {
  it('play one episode, are trained, listed, served and compared', async () => {
    const { window, folder } = await session(
      { 'quick.training.json': quickTraining('quick') },
      { prepare: addQuickHarness },
    );
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
    for (const text of [/quick-episode-\d{8}T/, 'teacher episodes']) await window.unfold(window.row(text));
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
    const served = rows.filter({ hasText: 'served: v1 of quick' });
    await served.waitFor();
    await window.screenshot('policy-served');
    await dismiss();
    await window.palette('AgenticRoboRL: Stop Serving');
    await served.waitFor({ state: 'detached' });

    // One policy becomes the workspace's planner; a copy of it is evaluated as a run of its own.
    await window.palette('AgenticRoboRL: Activate Policy');
    await window.choice('v2: round 1').click();
    await window.notification('is served at').waitFor();
    await rows.filter({ hasText: /v2: round 1.*active/ }).waitFor();
    await window.screenshot('policy-activated');
    await dismiss();
    const [trained] = readdirSync(join(folder, 'runs')).filter((name) => /^quick-\d{8}T/.test(name));
    cpSync(join(folder, 'runs', trained, 'policies/v0001'), join(folder, 'checkpoint'), { recursive: true });
    await window.palette('AgenticRoboRL: Evaluate Checkpoint...');
    await window.choice('Choose a folder...').click();
    // The dialog writes where it begins into its box, and would write it over a text that came before.
    await expect.poll(() => window.input.inputValue()).toContain(folder);
    await window.choice('harness').waitFor();
    await window.input.fill(`${join(folder, 'checkpoint')}/`);
    // It lists the folders in there, which are none, before it takes an answer.
    await window.choice('harness').waitFor({ state: 'detached' });
    await window.page.keyboard.press('Enter');
    const evaluated = window.notification(/quick-evaluation-.*has finished/);
    await evaluated.waitFor({ timeout: FINISH_MS });
    await evaluated.getByRole('button', { name: 'Show Table' }).click();
    await window.page.locator('.view-line', { hasText: 'overall' }).first().waitFor();
    await window.screenshot('checkpoint-evaluated');
    await dismiss();

    // Narrowed to what was chosen for the update, then to a task that there is not, then everything again.
    await window.palette('AgenticRoboRL: Focus on Runs View');
    await window.unfold(window.row(new RegExp(`^${trained}`)));
    await rows.filter({ hasText: 'evaluation ' }).first().waitFor();
    await window.palette('AgenticRoboRL: Filter Runs...');
    await window.choice('What became of a call').click();
    await window.choice(/^selected/).click();
    await window.unfold(window.row(/^round 1/));
    await rows
      .filter({ hasText: /^selected, advantage [+-]\d.*state \d+, attempt \d+, turn \d+$/ })
      .first()
      .waitFor();
    expect(await rows.filter({ hasText: /evaluation |teacher episodes/ }).count()).toBe(0);
    // A run without rounds has no such call.
    await window
      .row(/^quick-episode/)
      .filter({ hasText: 'finished' })
      .waitFor();
    await rows.filter({ hasText: 'nothing here fits the filter' }).waitFor();
    await window.screenshot('runs-filtered');
    await window.palette('AgenticRoboRL: Filter Runs...');
    await window.choice('Task').click();
    await window.input.fill('elsewhere');
    await window.page.keyboard.press('Enter');
    await rows.filter({ hasText: 'nothing here fits the filter' }).nth(1).waitFor();
    await window.palette('AgenticRoboRL: Clear the Filter of Runs');
    await rows.filter({ hasText: 'evaluation ' }).first().waitFor();

    // By how an episode ended: every second attempt of a round fails.
    await window.palette('AgenticRoboRL: Filter Runs...');
    await window.choice('Outcome').click();
    await window.choice('not solved').click();
    await window.unfold(window.row(/^round 1/));
    await window.unfold(window.row(/quick\/\d, state \d+.*2 episodes/));
    await rows
      .filter({ hasText: /attempt 0.*reward 0/ })
      .first()
      .waitFor();
    expect(await rows.filter({ hasText: /attempt 1/ }).count()).toBe(0);
    await window.screenshot('runs-filtered-by-outcome');
    await window.palette('AgenticRoboRL: Clear the Filter of Runs');
    // By how much a call counted.
    await window.palette('AgenticRoboRL: Filter Runs...');
    await window.choice('Least |advantage|').click();
    await window.input.fill('much');
    await window.page.locator('.quick-input-message', { hasText: 'a number, 0 or more' }).waitFor();
    await window.input.fill('0,5');
    await window.page.keyboard.press('Enter');
    await window.unfold(window.row(/^round 1/));
    await rows
      .filter({ hasText: /advantage \+1\.000.*attempt \d+, turn \d+/ })
      .first()
      .waitFor();
    await window.screenshot('runs-filtered-by-advantage');
    await window.palette('AgenticRoboRL: Clear the Filter of Runs');

    await window.palette('AgenticRoboRL: Compare Runs...');
    await window.page.locator('.quick-input-widget', { hasText: 'Compare Runs' }).waitFor();
    await window.choice('solved').click();
    await window.page.locator('.quick-input-widget input[placeholder^="Second evaluation"]').waitFor();
    await window.choice('solved').click();
    await window.page.locator('.view-line', { hasText: 'A won' }).first().waitFor();
    await window.page.locator('.view-line', { hasText: /^overall.*\[0\.0,\s65\.8\]/ }).waitFor();
    await window.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await window.screenshot('runs-compared');
  });
});
