/** A workspace that is not trusted: its texts are checked, its runs can be read, and nothing of it is executed. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

const SAMPLE = resolve('examples/sample-run');

/** Leaves a mark wherever it is run. */
const adapter = (mark: string) => `import { writeFileSync } from 'node:fs';
import { defineAdapter } from 'agentic-robo-rl';

writeFileSync(${JSON.stringify(mark)}, 'the adapter was run');
export default defineAdapter({
  name: 'mark',
  launch: () => ({ command: 'true' }),
  outcome: ({ episode: { task, init, attempt } }) => ({ task, init, attempt, reward: 'much', valid: true }),
});
`;
const MARKS = ['marked-by-adapter', 'marked-by-program'];

describe.skipIf(vscode === null)('a workspace that is not trusted', () => {
  it('is checked as text and its runs are read as files; none of its programs is run, and no daemon', async () => {
    const { server, window, folder, daemon } = await session(
      {
        'mark.adapter.ts': adapter('marked-by-adapter'),
        'mark.training.yaml':
          'version: 1\nname: mark\nharness:\n  adapter: ./mark.adapter.ts\n  suites: [s]\n  tsks: all\n',
      },
      {
        settings: { 'security.workspace.trust.enabled': true },
        prepare(at) {
          // A program of the workspace that would like to be run in place of Node.
          const program = join(at, 'node.sh');
          writeFileSync(program, `#!/bin/sh\ntouch '${join(at, 'marked-by-program')}'\n`, { mode: 0o755 });
          mkdirSync(join(at, '.vscode'));
          writeFileSync(join(at, '.vscode/settings.json'), JSON.stringify({ 'agenticRoboRL.node.path': program }));
        },
      },
    );
    const { page } = window;
    await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    // There are no runs, and the sample run is opened all the same.
    await window.palette('AgenticRoboRL: Replay Episode');
    const none = window.notification('There are no runs in this workspace');
    await none.getByRole('button', { name: 'Choose Run Folder...' }).waitFor();
    await none.getByRole('button', { name: 'Open Sample Run' }).click();
    await page.locator('.tab.active', { hasText: '.episode' }).waitFor();
    await page.locator('.view-line', { hasText: 'turn 0' }).first().waitFor();
    await window.screenshot('sample-run');

    await window.openFile('mark.training.yaml');
    await window.showProblems();
    await window.problem('tsks').waitFor();
    await window.openFile('mark.adapter.ts');
    await window.problem('reward').waitFor();
    await window.palette('AgenticRoboRL: Start Training');
    await window.notification('is not trusted').waitFor();
    await window.screenshot('untrusted');
    await window.notification('is not trusted').getByRole('button', { name: 'Manage Workspace Trust' }).waitFor();
    expect(existsSync(join(folder, 'runs'))).toBe(false);

    // Runs that come with it are read from their files: of a replay the transcript alone, and the page.
    cpSync(SAMPLE, join(folder, 'runs/brought'), { recursive: true });
    await window.palette('View: Close All Editors');
    await window.palette('AgenticRoboRL: Replay Episode');
    await window.choice('round 1').click();
    await window.choice('attempt 0').click();
    await page.locator('.tab.active', { hasText: '.episode' }).waitFor();
    await page.locator('.view-line', { hasText: 'turn 0' }).first().waitFor();
    expect(await page.locator('.debug-toolbar').count()).toBe(0);
    await window.screenshot('replay-untrusted');
    await window.palette('AgenticRoboRL: Open Run Page');
    const inside = window.webview;
    await inside.locator('.notice-warning', { hasText: 'not trusted' }).waitFor();
    await inside.locator('#evaluations th', { hasText: 'SFT' }).waitFor();
    expect(await inside.locator('[data-plot]').count()).toBeGreaterThan(8);
    await window.screenshot('run-page-untrusted');

    for (const mark of MARKS)
      for (const place of [folder, server.folder, process.cwd()]) expect(existsSync(join(place, mark))).toBe(false);
    expect(existsSync(join(folder, '.agentic-robo-rl'))).toBe(false);
    expect(daemon()).toBeUndefined();
  });
});
