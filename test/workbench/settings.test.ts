/** What is wrong in settings and in tasks.json is told in words, once. */
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';

const CONFIG = 'version: 1\nname: mine\nharness:\n  adapter: tabletop-skills\n  suites: [tabletop_spatal]\n';

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

describe.skipIf(vscode === null)('mistakes of settings', () => {
  it('of a wrong type are named and the defaults count', async () => {
    const settings = { 'agenticRoboRL.node.path': 5, 'agenticRoboRL.adapter.outputs': 'recordings/*' };
    const { window } = await session({ 'mine.training.yaml': CONFIG }, { settings });
    await window.openFile('mine.training.yaml');
    const listed = await notificationsOf(window, 'agenticRoboRL.node.path is 5, but must be a text');
    await listed('agenticRoboRL.adapter.outputs is "recordings/*", but must be a list').first().waitFor();
    expect(await listed('is not a function').count()).toBe(0);
    // The language server has started with the editor's own Node.
    await window.showProblems();
    await window.problem('tabletop_spatal').waitFor();
  });

  it('that name no program are told once, by the language server', async () => {
    const settings = { 'agenticRoboRL.node.path': '/no/such/node' };
    const { window } = await session({ 'mine.training.yaml': CONFIG }, { settings });
    await window.openFile('mine.training.yaml');
    const listed = await notificationsOf(
      window,
      'the language server could not be started: there is no program /no/such/node',
    );
    await window.screenshot('no-such-node');
    expect(await listed(/Launching server|create connection|\{0\}/).count()).toBe(0);
    expect(await listed('language server').count()).toBe(1);
  });
});
