/** The stage in the editor: opened from the tree of runs, hidden and shown, after a reload, and in every theme. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { temporaryFolder } from '../integration/quick-run.ts';
import { EPISODES, stagedRun } from '../integration/staged-run.ts';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';

const frameOf = ({ page }: Workbench) => page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');

describe.skipIf(vscodeFolder === null)('the stage in the editor', () => {
  it('is opened from the tree, keeps its place when it was hidden and over a reload, and follows the theme', async () => {
    const made = temporaryFolder();
    await stagedRun(join(made, 'runs/staged'));
    const { window, folder } = await session(
      { 'notes.txt': 'n' },
      { prepare: (at) => cpSync(join(made, 'runs'), join(at, 'runs'), { recursive: true }) },
    );
    const { page } = window;
    await window.palette('AgenticRoboRL: Open Stage');
    await window.notification('choose Open Stage on an episode').waitFor();
    await page.keyboard.press('Escape');

    await page.locator('.activitybar a.action-label[aria-label="AgenticRoboRL"]').click();
    const row = (text: string | RegExp) =>
      page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
    for (const text of [/^staged/, 'Round 1', 'state 42']) await row(text).locator('.monaco-tl-twistie').click();
    await row('attempt 0').hover();
    await row('attempt 0').getByRole('button', { name: 'Open Stage' }).click();
    const inside = frameOf(window);
    await inside.locator('h1', { hasText: 'tabletop_goal_swap/2, initial state 42, attempt 0' }).waitFor();
    await inside.locator('.frame canvas').waitFor();
    await inside.locator('#call-3').click();
    await inside.locator('#call-3[aria-current]').waitFor();
    await window.screenshot('stage-in-editor');

    // Hidden behind another editor it is thrown away, and made anew where the cursor stands.
    await window.openFile('notes.txt');
    await page.keyboard.press('Control+1');
    await page.locator('.tab', { hasText: 'Stage: ' }).click();
    await inside.locator('#call-3[aria-current]').waitFor();
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
