/** The bundled command line as tasks: findings become problems; the doctor runs in a terminal. */
import { describe, it } from 'vitest';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';

describe.skipIf(vscodeFolder === null)('tasks', () => {
  it('validate a config and list its findings; the doctor says what works', async () => {
    const files = {
      'mine.training.yaml':
        'version: 1\nname: mine\nharness:\n  adapter: tabletop-skills\n  suites: [tabletop_spatal]\n',
      '.vscode/tasks.json': JSON.stringify({
        version: '2.0.0',
        tasks: [{ type: 'agentic-robo-rl', command: 'validate', file: 'mine.training.yaml', label: 'check mine' }],
      }),
    };
    // A terminal whose text can be read.
    const { window } = await session(files, { settings: { 'terminal.integrated.gpuAcceleration': 'off' } });
    // Not opened: what is listed comes from the task.
    await window.statusItem('AgenticRoboRL').waitFor();
    await window.palette('Tasks: Run Task');
    await window.choice('check mine').click();
    const terminal = window.page.locator('.terminal-wrapper.active .xterm-rows');
    await terminal.filter({ hasText: '1 file checked' }).waitFor();
    await window.showProblems();
    await window.problem('tabletop_spatal').waitFor();
    await window.screenshot('task-problems');

    await window.palette('AgenticRoboRL: Doctor');
    await terminal.filter({ hasText: /needed (?:works|does not)/ }).waitFor();
    await window.screenshot('doctor');
  });
});
