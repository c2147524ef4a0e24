/** What is wrong in a config or in the settings is told in words, once; wrong settings harm nothing else. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { FULL } from '../full.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';

const demo = readFileSync(resolve('examples/demo.training.yaml'), 'utf8');

/**
 * The list of notifications: those that hide after some seconds, too, which a busy machine may need to open a file. Should the
 * list be closed meanwhile, it is opened again until the first one wanted is there.
 */
async function notificationsOf(window: Workbench, first: string): Promise<(text: string | RegExp) => Locator> {
  const center = window.page.locator('.notifications-center');
  const listed = (text: string | RegExp) => center.locator('.notification-list-item').filter({ hasText: text });
  const reopened = async () => {
    if (!(await center.isVisible())) await window.palette('Notifications: Show Notifications');
    return listed(first).count();
  };
  await expect.poll(reopened, { interval: 1000 }).toBeGreaterThan(0);
  return listed;
}

describe.skipIf(vscode === null)('mistakes', () => {
  it('in settings are named and the defaults count; in a config they are underlined, and a quick fix mends one', async () => {
    const faulty = demo.replace('groupsPerRound', 'groupsPerRund');
    expect(faulty).not.toBe(demo);
    const settings = { 'agenticRoboRL.node.path': 5, 'agenticRoboRL.adapter.outputs': 'recordings/*' };
    const { window, folder } = await session({ 'demo.training.yaml': faulty }, { settings });
    await window.openFile('demo.training.yaml');
    const listed = await notificationsOf(window, 'agenticRoboRL.node.path is 5, but must be a text');
    await listed('agenticRoboRL.adapter.outputs is "recordings/*", but must be a list').first().waitFor();
    expect(await listed('is not a function').count()).toBe(0);
    await window.palette('Notifications: Clear All Notifications');

    // The language server has started with the editor's own Node.
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

  it.runIf(FULL)('in the name of a program are told once, by the language server', async () => {
    const settings = { 'agenticRoboRL.node.path': '/no/such/node' };
    const { window } = await session({ 'demo.training.yaml': demo }, { settings });
    await window.openFile('demo.training.yaml');
    const listed = await notificationsOf(
      window,
      'the language server could not be started: there is no program /no/such/node',
    );
    await window.screenshot('no-such-node');
    expect(await listed(/Launching server|create connection|\{0\}/).count()).toBe(0);
    expect(await listed('language server').count()).toBe(1);
  });
});
