/** Replay where runs/ holds nothing: runs elsewhere in the workspace. */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL } from '../full.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';

const SAMPLE = resolve('examples/sample-run');

/** How many lines are marked as where the replay stands, in all editors that are seen. */
const marks = ({ page }: Workbench) =>
  page.evaluate(`[...document.querySelectorAll('.view-line span')].filter((span) =>
    getComputedStyle(span, '::after').content.includes('the replay is here')).length`);

describe.skipIf(vscode === null)('replay without a folder of runs', () => {
  it.runIf(FULL)(
    'finds a run elsewhere in the workspace, and marks its place in one of two attempts only',
    async () => {
      const { window } = await session(
        { 'notes.txt': 'n', 'other/run.json': '{"of": "another program"}' },
        { prepare: (at) => cpSync(SAMPLE, join(at, 'examples/sample-run'), { recursive: true }) },
      );
      await window.palette('AgenticRoboRL: Replay Episode');
      await window.choice('round 1').click();
      const { page } = window;
      await window.input.fill('object_task/1, state 40, attempt 3');
      await window.choice('attempt 3').waitFor();
      await page.keyboard.press('Enter');
      await page.locator('.debug-toolbar').waitFor();
      await page.locator('.view-line', { hasText: 'turn 0' }).first().waitFor();
      await expect.poll(() => marks(window)).toBe(1);

      // Beside another attempt, that differs from its first call on, there still is one place where the replay stands.
      await page.locator('.view-line', { hasText: 'turn 0' }).first().click();
      await window.palette('AgenticRoboRL: Compare with Another Attempt');
      await window.choice('attempt 0').click();
      for (const side of ['original', 'modified'])
        await page
          .locator(`.monaco-diff-editor .${side} .view-line`, { hasText: /turn.0/ })
          .first()
          .waitFor();
      await page.waitForTimeout(1000);
      await window.screenshot('attempts-compared');
      expect(await marks(window)).toBe(1);
    },
  );
});
