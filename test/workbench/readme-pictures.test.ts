/** A newcomer's first minutes with the sample run, in the pictures that the README shows (`npm run screenshots`). */
import { cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL } from '../full.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../examples');

describe.skipIf(vscode === null || !FULL)('the pictures of the README', () => {
  it('show findings, a run, and an episode in the debugger', async () => {
    const demo = readFileSync(join(EXAMPLES, 'demo.training.yaml'), 'utf8');
    // States that are trained on are evaluated on as well.
    const faulty = demo.replace('training: 11-44', 'training: 8-44');
    expect(faulty).not.toBe(demo);
    const { window } = await session(
      { 'demo.training.yaml': faulty },
      {
        name: 'arm',
        settings: { 'editor.minimap.enabled': false, 'debug.internalConsoleOptions': 'neverOpen' },
        prepare: (at) => cpSync(join(EXAMPLES, 'sample-run'), join(at, 'runs/sample-run'), { recursive: true }),
      },
    );
    const { page } = window;
    await page.setViewportSize({ width: 1200, height: 720 });
    await window.openFile('demo.training.yaml');
    await page.locator('.squiggly-error').first().waitFor();
    const where = await page.locator('.squiggly-error').first().boundingBox();
    await page.mouse.move((where?.x ?? 0) + 4, (where?.y ?? 0) + 6);
    await page.locator('.monaco-hover:visible', { hasText: 'Quick Fix' }).waitFor();
    await window.screenshot('readme-findings');
    await page.mouse.move(2, 2);

    await page.locator('.activitybar a.action-label[aria-label="AgenticRoboRL"]').click();
    await window.row('sample-run').click();
    const inside = window.webview;
    await inside.locator('.badge', { hasText: 'finished' }).waitFor();
    await window.unfold(window.row('sample-run'));
    await window.unfold(window.row('round 2'));
    await window.unfold(window.row(/state \d+/));
    await inside.locator('[data-plot="success"] canvas').waitFor();
    await inside.locator('[data-plot="success"]').evaluate((plot) => plot.scrollIntoView());
    await window.screenshot('readme-run');

    const attempt = window.row('attempt 1');
    await attempt.hover();
    await attempt.getByRole('button', { name: 'Replay Episode' }).click({ force: true });
    await page.locator('.debug-toolbar').waitFor();
    await page.locator('.editor-instance .view-line', { hasText: 'turn 0' }).first().waitFor();
    await window.palette('AgenticRoboRL: Open Stage');
    await inside.locator('h1', { hasText: 'attempt 1' }).waitFor();
    await inside.locator('.frame canvas').waitFor();
    await page
      .locator('.debug-toolbar')
      .getByRole('button', { name: /^Step Over/ })
      .click();
    await inside.locator('#call-1[aria-current]').waitFor();
    await page.mouse.move(2, 400);
    await page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
    await window.screenshot('readme-replay');
  });
});
