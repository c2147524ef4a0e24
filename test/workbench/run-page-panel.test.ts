/** The run page in the editor, on a real finished run. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from '../integration/cli-process.ts';
import { pageConfig } from '../integration/followed-page.ts';
import { temporaryFolder } from '../integration/quick-run.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

/** A window on a workspace that has a finished run of a short training. */
async function withRun() {
  const made = temporaryFolder();
  const text = JSON.stringify(pageConfig);
  writeFileSync(join(made, 'page.training.json'), text);
  const trained = await cli(made, ['train', 'page.training.json', '--run', 'runs/page']);
  expect(trained.code, trained.err).toBe(0);
  return session(
    { 'page.training.json': text },
    { prepare: (at) => cpSync(join(made, 'runs'), join(at, 'runs'), { recursive: true }) },
  );
}

describe.skipIf(vscode === null)('the page of a run in the editor', () => {
  it('is opened from the palette, comes back when it was hidden and after a reload, saves files, follows the theme', async () => {
    const { window, folder } = await withRun();
    const inside = window.webview;
    await window.palette('AgenticRoboRL: Open Run Page');
    await inside.locator('h1', { hasText: 'page' }).waitFor();
    await inside.locator('.badge', { hasText: 'finished' }).waitFor();
    await inside.locator('#evaluations th', { hasText: 'SFT against base' }).waitFor();
    await inside.locator('[data-plot="success"] canvas').waitFor();
    await window.screenshot('run-page-in-editor');

    await inside.getByRole('button', { name: 'Save as CSV: Success by round' }).click();
    await window.input.waitFor();
    const file = join(folder, 'page-success.csv');
    await expect.poll(() => window.input.inputValue()).toBe(file);
    await window.page.keyboard.press('Enter');
    await window.notification('Saved page-success.csv').waitFor();
    expect(readFileSync(file, 'utf8').split('\r\n')).toHaveLength(5);

    // Hidden behind another editor it is thrown away, and made anew from what the host knows.
    await window.openFile('page.training.json');
    await inside.locator('h1').waitFor({ state: 'detached' });
    await window.palette('AgenticRoboRL: Open Run Page');
    await inside.locator('[data-plot="rlLoss"] tbody tr').first().waitFor();
    await window.reload();
    // Which tab was in front last the editor may not have written down yet.
    await window.page.locator('.tab', { hasText: /^page$/ }).click();
    await inside.locator('[data-plot="rlLoss"] tbody tr').first().waitFor();

    for (const [theme, name] of [
      ['Default High Contrast', 'high-contrast'],
      ['Default Dark Modern', 'dark'],
    ]) {
      mkdirSync(join(folder, '.vscode'), { recursive: true });
      writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ 'workbench.colorTheme': theme }));
      await inside.locator(`body.vscode-${name}`).waitFor();
      await window.screenshot(`run-page-in-editor-${name}`);
    }
  });
});
