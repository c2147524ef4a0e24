/** Findings in a real editor: underlined, listed, mended by a quick fix. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

const demo = readFileSync(resolve(import.meta.dirname, '../../examples/demo.training.yaml'), 'utf8');

describe.skipIf(vscode === null)('findings in the editor', () => {
  it('are underlined in a config, and a quick fix mends one', async () => {
    const faulty = demo.replace('groupsPerRound', 'groupsPerRund');
    expect(faulty).not.toBe(demo);
    const { window, folder } = await session({ 'demo.training.yaml': faulty });
    await window.openFile('demo.training.yaml');
    await window.page.locator('.squiggly-error').first().waitFor();
    await window.showProblems();
    await window.problem('groupsPerRund').waitFor();
    expect(await window.statusItem('AgenticRoboRL Training Config').isVisible()).toBe(true);
    await window.screenshot('findings-underlined');

    await window.quickFix('groupsPerRund', 'groupsPerRound');
    await window.page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
    await window.page.keyboard.press('Control+S');
    await expect.poll(() => readFileSync(join(folder, 'demo.training.yaml'), 'utf8')).toBe(demo);
    await window.screenshot('findings-mended');
  });
});
