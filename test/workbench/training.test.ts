/** Training from the palette: progress, a reload in the middle, stopping, resuming, and the tree of what was recorded. */
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCli } from '../integration/cli-process.ts';
import { journalOf } from '../integration/quick-run.ts';
import { heldHarness, holdEpisodes, quickTraining, releaseEpisodes } from './bed/quick-workspace.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

/** Of each of two tasks. */
const EPISODES = 4;
const FINISH_MS = 200_000;
const files = { 'quick.training.json': quickTraining('quick', EPISODES) };
const prepare = heldHarness(3);
const AT_WORK = /quick: .*\d+\/\d+/;
const RUN = /quick-\d{8}T\d{6}Z/;

describe.skipIf(vscode === null)('a training in the editor', () => {
  it('is started, goes on over a reload, is stopped and resumed, and can be looked into', async () => {
    const { window, folder } = await session(files, { prepare });
    const rows = window.page.locator('.pane-body .monaco-list-row');
    await window.openFile('quick.training.json');
    await window.palette('AgenticRoboRL: Start Training');
    await window.statusItem(AT_WORK).waitFor();
    await rows.filter({ hasText: RUN }).first().waitFor();
    await window.screenshot('training-at-work');

    await window.reload();
    await window.statusItem(AT_WORK).waitFor();
    const name = RUN.exec((await rows.filter({ hasText: RUN }).first().textContent()) ?? '')?.[0] ?? '';
    const run = join(folder, 'runs', name);
    await window.screenshot('training-after-reload');

    await window.palette('AgenticRoboRL: Stop Training...');
    await window.choice('After the running episodes').click();
    await window.row(/^quick-.*stopping/).waitFor();
    holdEpisodes(folder, 1);
    await window.notification('has stopped').waitFor();
    expect(journalOf(run).at(-1)).toEqual({ type: 'run-stopped', reason: 'episode' });
    expect(finished(run)).toHaveLength(4);
    await window.screenshot('training-stopped');
    await window.notification('has stopped').getByRole('button', { name: 'Resume' }).click();

    // A click on the run opens its page, which follows it; the tree is drawn anew just now, and may forget one.
    const inside = window.webview;
    await window.until(inside.locator('.badge', { hasText: 'running' }), () => window.row(name).click(), 15_000);
    await window.screenshot('run-page-at-work');
    releaseEpisodes(folder);
    await window.notification('has finished').waitFor({ timeout: FINISH_MS });
    const events = journalOf(run).map(({ type }) => type);
    expect(events.filter((type) => type === 'run-started')).toHaveLength(1);
    expect(events.at(-1)).toBe('run-finished');

    await inside.locator('.badge', { hasText: 'finished' }).waitFor();

    // Run -> section -> group -> episode -> call, which opens where it is in the transcript.
    for (const text of [name, 'teacher episodes', /quick\/\d, state/, 'attempt 0'])
      await window.unfold(window.row(text));
    await window.row('turn 0').click();
    await window.page.locator('.tab.active', { hasText: /turn|episode|attempt/ }).waitFor();
    await window.page.locator('.view-line', { hasText: 'turn 0' }).first().waitFor();
    await window.notification('has finished').getByRole('button', { name: 'Show Table' }).click();
    await window.page.locator('.view-line', { hasText: 'overall' }).first().waitFor();
    await window.screenshot('training-finished');

    // A run that a terminal has started is watched and stopped from here all the same.
    holdEpisodes(folder, 3);
    const terminal = startCli(folder, ['train', 'quick.training.json', '--run', 'runs/by-hand']);
    onTestFinished(() => void terminal.child.kill('SIGKILL'));
    const byHand = window.row(/^by-hand/);
    await byHand.filter({ hasText: /running|\d+\/\d+/ }).waitFor();
    await byHand.hover();
    await byHand.getByRole('button', { name: 'Stop Training...' }).click();
    await window.choice('After the running episodes').click();
    await byHand.filter({ hasText: 'stopping' }).waitFor();
    holdEpisodes(folder, 1);
    expect((await terminal.ended).code).toBe(130);
    await byHand.filter({ hasText: 'stopped' }).waitFor();
    expect(journalOf(join(folder, 'runs/by-hand')).at(-1)).toEqual({ type: 'run-stopped', reason: 'episode' });
    await window.screenshot('run-of-a-terminal-stopped');
  });

  it('loses nothing when its daemon is killed; a record that the repository brings along is not believed', async () => {
    // Whoever believed the repository's record would come here.
    let visitors = 0;
    const trap = createServer((socket) => {
      visitors++;
      socket.destroy();
    });
    await new Promise<void>((done) => trap.listen(0, '127.0.0.1', done));
    onTestFinished(() => void trap.close());
    const { port } = trap.address() as AddressInfo;
    const { window, folder, daemon } = await session(files, {
      prepare(at) {
        prepare(at);
        const now = new Date().toISOString();
        const names = { workspace: realpathSync(at), host: hostname(), version: '0.1.0', protocol: 1 };
        const record = { pid: process.pid, port, token: 'x'.repeat(64), startedAt: now, ...names };
        mkdirSync(join(at, '.agentic-robo-rl'));
        writeFileSync(join(at, '.agentic-robo-rl/daemon.json'), JSON.stringify(record), { mode: 0o600 });
      },
    });
    await window.openFile('quick.training.json');
    await window.palette('AgenticRoboRL: Start Training');
    await window.statusItem(AT_WORK).waitFor();
    const [name] = readdirSync(join(folder, 'runs'));
    const run = join(folder, 'runs', name);
    await expect.poll(() => finished(run).length).toBe(3);
    const { pid } = daemon() ?? {};
    expect(pid).toBeGreaterThan(0);
    process.kill(pid as number, 'SIGKILL');
    const told = window.notification('ended unexpectedly');
    await told.waitFor();
    await window.page.locator('.pane-body .monaco-list-row').filter({ hasText: 'interrupted' }).first().waitFor();
    const before = finished(run);
    await window.screenshot('daemon-killed');

    await told.getByRole('button', { name: 'Restart Daemon' }).click();
    await window.statusItem('AgenticRoboRL').locator('.codicon-check').waitFor();
    await window.palette('AgenticRoboRL: Resume Run');
    releaseEpisodes(folder);
    await window.notification('has finished').waitFor({ timeout: FINISH_MS });
    const after = finished(run);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after).size).toBe(after.length);
    expect(daemon()?.pid).not.toBe(pid);
    expect(visitors).toBe(0);
  });
});

/** Episodes that a run's journal has, in order. */
function finished(run: string): string[] {
  return journalOf(run).flatMap((event) => (event.type === 'episode-finished' ? [event.episode] : []));
}
