/** An episode in the debugger of a real VS Code: stepping both ways, breakpoints, variables, links. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedGroup } from '../unit/recordings/replay/hand-made.ts';
import { vscodeFolder } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';

/** A window on a workspace that has a recorded run with a group of three attempts. */
async function withRecording(settings: Record<string, unknown> = {}) {
  const made = await recordedGroup();
  return session(
    { 'notes.md': 'nothing\n' },
    {
      settings: { 'debug.toolBarLocation': 'docked', ...settings },
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

const frame = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.debug-call-stack .monaco-list-row').filter({ hasText: text }).first();
const variable = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.debug-variables .monaco-list-row').filter({ hasText: text }).first();
const button = ({ page }: Workbench, name: string | RegExp) => page.getByRole('button', { name }).first();

describe.skipIf(vscodeFolder === null)('the replay of an episode in the debugger', () => {
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
    await window.page.keyboard.type('turn == 1 && advantage > 0');
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

  it('has every attempt of a group as a thread, from launch.json', async () => {
    const { window } = await withRecording();
    await window.palette('View: Show Run and Debug');
    await button(window, /^Start Debugging/).click();
    for (const text of ['attempt 0: reward 1', 'attempt 1: reward 0', 'attempt 2: invalid'])
      await window.page.locator('.debug-call-stack').getByText(text).first().waitFor();
    await window.screenshot('replay-group');
    expect(await window.page.locator('.notifications-toasts .notification-list-item').count()).toBe(0);
  });

  it('is opened by its transcript alone where the workspace is not trusted', async () => {
    const { window } = await withRecording({ 'security.workspace.trust.enabled': true });
    await window.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await window.palette('AgenticRoboRL: Replay Episode');
    await window.choice('s/0, state 11, attempt 0').click();
    await window.page.locator('.tab', { hasText: 'e0.episode' }).waitFor();
    await window.page
      .locator('.view-line', { hasText: /^turn.0/ })
      .first()
      .waitFor();
    await window.screenshot('replay-untrusted');
  });
});
