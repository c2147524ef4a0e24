/** The stage in the editor: opened from the tree of runs, hidden and shown, after a reload, and in every theme. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../integration/quick-run.ts';
import { EPISODES, stagedRun } from '../integration/staged-run.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

describe.skipIf(vscode === null)('the stage in the editor', () => {
  it('is opened beside the debugger, keeps its place when it was hidden and over a reload, and follows the theme', async () => {
    const made = temporaryFolder();
    await stagedRun(join(made, 'runs/staged'));
    const { window, folder } = await session(
      { 'notes.txt': 'n' },
      { prepare: (at) => cpSync(join(made, 'runs'), join(at, 'runs'), { recursive: true }) },
    );
    const { page } = window;
    const inside = window.webview;
    await window.palette('AgenticRoboRL: Open Stage');
    await window.choice('attempt 1').click();
    await inside.locator('h1', { hasText: 'attempt 1' }).waitFor();
    // It is the only editor: the debugger's text comes beside it and covers nothing.
    await window.palette('AgenticRoboRL: Replay Episode');
    await window.choice('attempt 1').click();
    await page.locator('.debug-toolbar').waitFor();
    await page.locator('.editor-instance .view-line', { hasText: 'turn 0' }).first().waitFor();
    expect(await page.locator('.editor-group-container').count()).toBe(2);
    await inside.locator('h1', { hasText: 'attempt 1' }).waitFor();
    await window.screenshot('stage-alone-then-debugger');
    await page
      .locator('.debug-toolbar')
      .getByRole('button', { name: /^(?:Stop|Disconnect)/ })
      .click();
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    await window.palette('View: Close All Editors');
    await page.locator('.tab').first().waitFor({ state: 'detached' });

    await page.locator('.activitybar a.action-label[aria-label="AgenticRoboRL"]').click();
    const row = (text: string | RegExp) =>
      page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
    // A tree that has just learnt of its runs is drawn anew, and may forget a click.
    for (const text of [/^staged/, 'Round 1', 'state 42'])
      await expect
        .poll(async () => {
          const open = (await row(text).getAttribute('aria-expanded')) === 'true';
          if (!open) await row(text).locator('.monaco-tl-twistie').click();
          return open;
        })
        .toBe(true);
    await row('attempt 0').waitFor();
    // Beside the debugger of the same episode: one cursor for both.
    const press = (name: RegExp) => page.locator('.debug-toolbar').getByRole('button', { name }).click();
    await row('attempt 0').hover();
    await row('attempt 0').getByRole('button', { name: 'Open Stage' }).waitFor();
    await row('attempt 0').getByRole('button', { name: 'Replay Episode' }).click({ force: true });
    await page.locator('.debug-toolbar').waitFor();
    await page.locator('.tab').first().waitFor();
    await window.palette('AgenticRoboRL: Open Stage');
    await inside.locator('h1', { hasText: 'tabletop_goal_swap/2, initial state 42, attempt 0' }).waitFor();
    await inside.locator('.frame canvas').waitFor();
    const at = () => inside.locator('.column[aria-current]').getAttribute('id');
    expect(await at()).toBe('call-0');
    await press(/^Step Over/);
    await expect.poll(at).toBe('call-1');
    await inside.locator('#call-2').click();
    await expect.poll(at).toBe('call-2');
    await press(/^Step Back/);
    await expect.poll(at).toBe('call-1');
    await window.screenshot('stage-with-debugger');
    await press(/^(?:Stop|Disconnect)/);
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });

    await inside.locator('#call-3').click();
    await inside.locator('#call-3[aria-current]').waitFor();
    await window.screenshot('stage-in-editor');

    // Hidden behind another editor it is thrown away, and made anew where the cursor stands.
    await window.openFile('notes.txt');
    await page.locator('.tab', { hasText: 'Stage: ' }).click();
    await inside.locator('#call-3[aria-current]').waitFor();
    // In a browser the editor saves what its panels remember every five seconds, not when it is closed.
    await page.waitForTimeout(7000);
    await window.reload();
    await page.locator('.tab', { hasText: 'Stage: ' }).click();
    await inside.locator('#call-3[aria-current]').waitFor();
    await inside.locator('.note', { hasText: EPISODES[0] }).waitFor();

    mkdirSync(join(folder, '.vscode'), { recursive: true });
    const settings = join(folder, '.vscode/settings.json');
    writeFileSync(settings, JSON.stringify({ 'workbench.colorTheme': 'Default High Contrast' }));
    await inside.locator('body.vscode-high-contrast').waitFor();
    await window.screenshot('stage-in-editor-high-contrast');
  });
});
