/** An episode in the debugger of a real VS Code: stepping both ways, breakpoints, variables, links. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL } from '../full.ts';
import { recordedGroup } from '../unit/recordings/replay/hand-made.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';

/** A window on a workspace that has a recorded run with a group of three attempts. */
async function withRecording() {
  const made = await recordedGroup();
  return session(
    { 'notes.md': 'nothing\n' },
    {
      settings: { 'debug.toolBarLocation': 'docked' },
      prepare: (at) => {
        cpSync(made, join(at, 'runs/hand-made'), { recursive: true });
        mkdirSync(join(at, '.vscode'), { recursive: true });
        const launch = {
          type: 'planner-replay',
          request: 'launch',
          name: 'Group',
          run: 'hand-made',
          episode: 'e0',
          group: true,
        };
        writeFileSync(join(at, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations: [launch] }));
      },
    },
  );
}

const RAISED = 'IndexError: list index out of range';

/**
 * A second run, whose planner writes code that fails within a file of the harness; the harness and its adapter are files of
 * the workspace.
 */
async function addCoded(folder: string): Promise<void> {
  const result = [
    'Traceback (most recent call last):',
    '  File "<cell>", line 2, in <module>',
    `  File "/opt/elsewhere/arm/skills.py", line 3, in pick`,
    RAISED,
  ].join('\n');
  const code = 'found = detect()\npick(found[9])\nplace("plate")';
  const made = await recordedGroup({ turns: [{ tools: [['run', { code }, result]] }, { content: 'That is all.' }] });
  cpSync(made, join(folder, 'runs/coded'), { recursive: true });
  const info = JSON.parse(readFileSync(join(made, 'run.json'), 'utf8'));
  const config = { harness: { adapter: './arm.adapter.ts' } };
  writeFileSync(join(folder, 'runs/coded/run.json'), JSON.stringify({ ...info, config, configFolder: folder }));
  mkdirSync(join(folder, 'arm'));
  writeFileSync(join(folder, 'arm/skills.py'), 'def pick(objects):\n    # the first\n    return grasp(objects[0])\n');
  writeFileSync(
    join(folder, 'arm.adapter.ts'),
    'export default {\n  outcome(output) {\n    const solved = output.exitCode === 0;\n    return {\n      reward: solved ? 1 : 0,\n      valid: true,\n    };\n  },\n};\n',
  );
}

/** All words in and beside the line of the editor that begins so. */
const wordsOf = ({ page }: Workbench, start: string) =>
  page.evaluate(`(() => {
    const lines = [...document.querySelectorAll('.editor-instance .view-line')];
    const line = lines.find(({ textContent }) => textContent.replaceAll('\\u00a0', ' ').trim().startsWith(${JSON.stringify(start)}));
    const beside = (span) => ['::before', '::after'].map((part) => getComputedStyle(span, part).content);
    const all = [...(line?.querySelectorAll('span') ?? [])];
    return all.flatMap((span) => [span.textContent, ...beside(span)]).join(' ').replaceAll('\\u00a0', ' ');
  })()`);

const frame = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.debug-call-stack .monaco-list-row').filter({ hasText: text }).first();
const variable = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.debug-variables .monaco-list-row').filter({ hasText: text }).first();
const button = ({ page }: Workbench, name: string | RegExp) => page.getByRole('button', { name }).first();

describe.skipIf(vscode === null)('the replay of an episode in the debugger', () => {
  it('steps forwards and back, stops at conditions on the way back, and shows the record', async () => {
    const { window } = await withRecording();
    await window.palette('AgenticRoboRL: Replay Episode');
    await window.choice('s/0, state 11, attempt 0').click();
    await window.palette('View: Show Run and Debug');
    await frame(window, 'turn 0').waitFor();
    // The transcript is open at the call.
    await window.page.locator('.tab', { hasText: 'e0.episode' }).waitFor();
    await variable(window, /^Context/).click();
    await variable(window, /^Credit/).click();
    await variable(window, /advantage\s*=\s*1/).waitFor();
    await window.screenshot('replay-entry');
    await window.page.keyboard.press('F10');
    await frame(window, 'turn 1').waitFor();
    await button(window, /^Step Back/).click();
    await frame(window, 'turn 0').waitFor();
    await window.page.keyboard.press('F10');
    await frame(window, 'turn 1').waitFor();
    await window.page.keyboard.press('F11');
    await frame(window, /^pick .*side/).waitFor();
    await window.screenshot('replay-tool-call');

    await window.page.locator('.pane-header', { hasText: 'Breakpoints' }).hover();
    await button(window, 'Add Function Breakpoint').click();
    await window.page.locator('.debug-breakpoints input.input').fill('turn == 1 && advantage > 0');
    await window.page.keyboard.press('Enter');
    await window.page.keyboard.press('F5');
    // There is no further stop: the end is said, and the session goes on.
    await frame(window, 'outcome: reward 1').waitFor();
    await window.page.getByText('End of the episode').first().waitFor();
    await window.screenshot('replay-end');
    await button(window, /^Reverse/).click();
    await frame(window, 'turn 1').waitFor();
    await window.page.getByText('Stopped on the way back').first().waitFor();
    await window.screenshot('replay-reverse');

    // A breakpoint on a line of the transcript, as it is set in any editor.
    await window.page.keyboard.press('Control+G');
    await window.input.waitFor();
    await window.input.fill(':37');
    await window.page.keyboard.press('Enter');
    await window.page.keyboard.press('F9');
    await window.page.locator('.debug-breakpoints .monaco-list-row', { hasText: 'e0.episode' }).waitFor();
    await window.page.keyboard.press('F5');
    await frame(window, /^place /).waitFor();
    await window.page.getByText('Stopped').first().waitFor();
    await window.screenshot('replay-breakpoint');
  });

  it.runIf(FULL)(
    'has every attempt of a group as a thread, from launch.json; and values in code while it is stopped',
    async () => {
      const { window, folder } = await withRecording();
      await window.palette('View: Show Run and Debug');
      await button(window, /^Start Debugging/).click();
      for (const text of ['attempt 0: reward 1', 'attempt 1: reward 0', 'attempt 2: invalid'])
        await window.page.locator('.debug-call-stack').getByText(text).first().waitFor();
      await window.screenshot('replay-group');
      expect(await window.page.locator('.notifications-toasts .notification-list-item').count()).toBe(0);

      // With the stage in use, the text of another attempt opens among the texts, and the stage's tab says what it shows.
      const { page } = window;
      await window.palette('AgenticRoboRL: Open Stage');
      const stage = page.locator('.tab', { hasText: 'Stage: ' });
      await stage.waitFor();
      const before = (await stage.textContent()) ?? '';
      const other = before.includes('attempt 1') ? 'attempt 0: reward 1' : 'attempt 1: reward 0';
      await page.locator('.debug-call-stack').getByText(other).first().click();
      await button(window, /^Step Over/).click();
      await page.locator('.tab', { hasText: `Stage: s/0, ${other.split(':')[0]}` }).waitFor();
      await page.locator('.tab', { hasText: 'e1.episode' }).waitFor();
      const apart = page.locator('.editor-group-container').filter({ has: stage });
      expect(await apart.locator('.tab').count()).toBe(1);
      await window.screenshot('replay-group-with-stage');
      await window.palette('View: Close All Editors');
      await stage.waitFor({ state: 'detached' });

      // A run whose planner wrote code: while it is stopped, values stand in the code, in the harness and in the adapter.
      await addCoded(folder);
      await page.keyboard.press('Shift+F5');
      await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
      await window.palette('AgenticRoboRL: Replay Episode');
      await window.choice('coded').click();
      await window.choice('s/0, state 11, attempt 0').click();
      await frame(window, 'turn 0').waitFor();
      // It is stopped at by the filter for exceptions, on the way there and on the way back.
      const filter = page.locator('.debug-breakpoints .monaco-list-row', { hasText: 'Exceptions of Planner Code' });
      await filter.locator('input, .monaco-checkbox').first().click();
      await page.keyboard.press('F5');
      const said = (text: string) => page.getByText(text).first();
      await said('Stopped: Traceback').waitFor();
      await window.press('F5', said('End of the episode'));
      await button(window, /^Reverse/).click();
      await said('Stopped on the way back: Traceback').waitFor();
      await page.locator('.tab.active', { hasText: 'cell 0.py' }).waitFor();
      await expect.poll(() => wordsOf(window, 'pick(found[9])')).toContain(RAISED);
      await window.screenshot('replay-inline-cell');
      await frame(window, /^pick.*skills\.py/).click();
      await page.locator('.tab.active', { hasText: 'skills.py' }).waitFor();
      await expect.poll(() => wordsOf(window, 'return grasp')).toContain(RAISED);
      await window.screenshot('replay-inline-harness');
      await frame(window, 'outcome: reward 1').click();
      await page.locator('.tab.active', { hasText: 'arm.adapter.ts' }).waitFor();
      await expect.poll(() => wordsOf(window, 'reward:')).toContain('reward = 1');
      await window.screenshot('replay-inline-adapter');
    },
  );
});
