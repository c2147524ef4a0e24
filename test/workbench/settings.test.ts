/** What is wrong in settings and in tasks.json is told in words, once. */
import { describe, expect, it } from 'vitest';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';

const CONFIG = 'version: 1\nname: mine\nharness:\n  adapter: tabletop-skills\n  suites: [tabletop_spatal]\n';

describe.skipIf(vscodeFolder === null)('mistakes of settings', () => {
  it('of a wrong type are named and the defaults count', async () => {
    const settings = { 'agenticRoboRL.node.path': 5, 'agenticRoboRL.adapter.outputs': 'recordings/*' };
    const { window } = await session({ 'mine.training.yaml': CONFIG }, { settings });
    await window.openFile('mine.training.yaml');
    await window.notification('agenticRoboRL.node.path is 5, but must be a text').waitFor();
    await window.notification('agenticRoboRL.adapter.outputs is "recordings/*", but must be a list').waitFor();
    // The language server has started with the editor's own Node.
    await window.showProblems();
    await window.problem('tabletop_spatal').waitFor();
    expect(await window.notification('is not a function').count()).toBe(0);
  });

  it('that name no program are told once, by the language server', async () => {
    const settings = { 'agenticRoboRL.node.path': '/no/such/node' };
    const { window } = await session({ 'mine.training.yaml': CONFIG }, { settings });
    await window.openFile('mine.training.yaml');
    await window.notification('the language server could not be started: there is no program /no/such/node').waitFor();
    await window.screenshot('no-such-node');
    expect(await window.notification(/Launching server|create connection|\{0\}/).count()).toBe(0);
    expect(await window.notification('language server').count()).toBe(1);
  });
});
