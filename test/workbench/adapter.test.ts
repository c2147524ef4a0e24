/** A new adapter from the palette, checked on what episodes left behind. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

describe.skipIf(vscode === null)('an adapter in the editor', () => {
  it('comes from a template with types, and shows what it makes of recorded outputs when it is saved', async () => {
    const { window, folder } = await session({
      'recordings/first/result.json': '{ "success": true, "successTurn": 4 }',
      'recordings/second/result.json': '{ "success": false, "infrastructureFailure": "the camera is dark" }',
    });
    await window.palette('AgenticRoboRL: New Adapter...');
    await window.choice('The planner calls skills').click();
    await window.input.fill('bench-arm');
    await window.page.keyboard.press('Enter');
    const tab = window.page.locator('.tab', { hasText: 'bench-arm.adapter.ts' });
    await tab.waitFor();
    const file = join(folder, 'adapters/bench-arm.adapter.ts');
    expect(readFileSync(file, 'utf8')).toContain("name: 'bench-arm'");
    expect(existsSync(join(folder, '.agentic-robo-rl/types/agentic-robo-rl.d.ts'))).toBe(true);

    await window.page.locator('.editor-instance .view-lines').first().click();
    await window.page.keyboard.press('Control+Home');
    await window.page.keyboard.type('// @outputs ../recordings/*');
    await window.page.keyboard.press('Enter');
    await window.page.keyboard.press('Control+S');
    await window.page.keyboard.press('Control+End');
    await window.page.locator('.view-line', { hasText: 'attempt = 0' }).first().waitFor();
    await window.screenshot('adapter-checked');
    expect(await window.page.locator('.squiggly-error').count()).toBe(0);

    // The last check stands in the tree of adapters, also after a reload.
    const rows = window.page.locator('.pane-body .monaco-list-row');
    const checked = rows.filter({ hasText: 'adapters/bench-arm.adapter.ts' }).filter({ hasText: '2 outputs checked' });
    for (const again of [false, true]) {
      if (again) await window.reload();
      await window.palette('AgenticRoboRL: Focus on Adapters View');
      // The other views leave it few lines, and a list draws only the lines that are seen.
      for (const view of ['Runs', 'Policies']) {
        const header = window.page.locator('.pane-header', { hasText: view });
        if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
      }
      await checked.waitFor();
      await window.unfold(checked);
      await rows.filter({ hasText: /second.*invalid/ }).waitFor();
      if ((await rows.filter({ hasText: 'attempt' }).count()) === 0)
        await rows.filter({ hasText: /first.*reward 1/ }).click();
      await rows.filter({ hasText: /valid.*true/ }).waitFor();
    }
    await window.screenshot('adapters-view');
  });
});
