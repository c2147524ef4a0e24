/** The bundled command line as tasks: findings become problems; the doctor runs in a terminal. */
import { describe, it } from 'vitest';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';

describe.skipIf(vscode === null)('tasks', () => {
  it('validate a config and list its findings; wrong ones say what is wrong; the doctor says what works', async () => {
    const task = (label: string, more: object) => ({ type: 'agentic-robo-rl', label, ...more });
    const files = {
      'mine.training.yaml':
        'version: 1\nname: mine\nharness:\n  adapter: tabletop-skills\n  suites: [tabletop_spatal]\n',
      '.vscode/tasks.json': JSON.stringify({
        version: '2.0.0',
        tasks: [
          task('check mine', { command: 'validate', file: 'mine.training.yaml' }),
          task('remove', { command: 'rm' }),
          task('number', { command: 'validate', file: 5 }),
        ],
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

    for (const [label, words] of [
      ['remove', /tasks\.json, "remove": "command" is "rm"; it must be one of validate, train/],
      ['number', /tasks\.json, "number": "file" must be a text/],
    ] as const) {
      await window.palette('Tasks: Run Task');
      await window.choice(label).click();
      await window.notification(words).waitFor();
    }
    await window.screenshot('wrong-tasks');

    await window.palette('AgenticRoboRL: Doctor');
    await terminal.filter({ hasText: /needed (?:works|does not)/ }).waitFor();
    await window.screenshot('doctor');
  });
});
