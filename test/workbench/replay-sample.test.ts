/**
 * The sample run in the debugger, transcript and stage together: on the way back to the call with the lowest advantage, whose
 * numbers are those of its records. With the mouse; in full also in high contrast, then with the keyboard alone.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FrameLocator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { CallRecord, SampleRecord, ScoreRecord } from '../../protocol/records.ts';
import { FULL } from '../full.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';
import { recordedStatus } from './recorded-pose.ts';

const SAMPLE = resolve('examples/sample-run');
const SECTION = 'rounds/0002';
const EPISODE = 'eec7597c.r2.tabletop_goal_swap-0.i41.a3.0';
/** Of the calls with the lowest advantage of the run, the one that places; it begins when the cube is in the gripper. */
const TURN = 2;
const BEGINS = 1.6;
const CONDITION = 'advantage <= -1 && called contains "place"';

function linesOf<T>(name: string): T[] {
  const text = readFileSync(join(SAMPLE, SECTION, name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
const samples = linesOf<SampleRecord>('samples.jsonl');
const call = linesOf<CallRecord>('calls.jsonl').find(
  (one) => one.episode === EPISODE && one.turn === TURN,
) as CallRecord;
const sample = samples.find((one) => one.call === call.id) as SampleRecord;
const score = linesOf<ScoreRecord>('scores.jsonl').findLast((one) => one.call === call.id) as ScoreRecord;

const frame = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.debug-call-stack .monaco-list-row').filter({ hasText: text }).first();
const button = ({ page }: Workbench, name: string | RegExp) => page.getByRole('button', { name }).first();

/** The lines of editors in their order, as a script of the page. */
const LINES = `[...document.querySelectorAll('.editor-instance .view-line')]
  .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)`;

/** All that is seen of the text, wrapped or not. */
const seen = ({ page }: Workbench) =>
  page.evaluate(`${LINES}.map(({ textContent }) => textContent).join('').replaceAll('\\u00a0', ' ')`);

/** The heading that is marked as where the replay stands; a long one has several lines, of which the last has the mark. */
const here = ({ page }: Workbench) =>
  page.evaluate(`(() => {
    const lines = ${LINES};
    const marked = lines.findIndex((line) => [...line.querySelectorAll('span')].some((span) =>
      getComputedStyle(span, '::after').content.includes('the replay is here')));
    const texts = lines.slice(0, marked + 1).map(({ textContent }) => textContent.replaceAll('\\u00a0', ' '));
    return texts.slice(texts.findLastIndex((text) => text.startsWith('turn '))).join('');
  })()`);

/** Places behind tokens that have a colour of their own, of a border where the theme has no fills. */
const heated = ({ page }: Workbench) =>
  page.evaluate(`[...document.querySelectorAll('.view-overlays .cdr[class*="TextEditorDecorationType"]')].filter((one) => {
    const { backgroundColor, borderBottomStyle, width } = getComputedStyle(one);
    return parseFloat(width) < 400 && (borderBottomStyle !== 'none' || backgroundColor !== 'rgba(0, 0, 0, 0)');
  }).length`) as Promise<number>;

/** Rows of a scope as `name = value`, once it is open. */
async function shownValues({ page }: Workbench): Promise<Record<string, string>> {
  const rows = await page.locator('.debug-variables .monaco-list-row').allTextContents();
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [, name, value] = /^\s*(\w+)\s*=\s*(.*)$/.exec(row.replaceAll('\u00a0', ' ')) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

async function standsThere(window: Workbench, stage: FrameLocator): Promise<void> {
  await frame(window, `turn ${TURN}`).waitFor();
  await expect.poll(() => here(window)).toMatch(new RegExp(`^turn ${TURN} · place`));
  await expect.poll(() => heated(window)).toBeGreaterThan(5);
  // How likely its words were, and what its tool call did in the world, in one hint.
  await expect.poll(() => seen(window)).toMatch(/log b: -\d\.\d\d · 2\.35 s/);
  // The robot at that moment: the time, where the gripper is and what it holds are those of the trajectory.
  await expect.poll(() => stage.locator('.column[aria-current]').getAttribute('id')).toBe(`call-${TURN}`);
  const trajectory = join(SAMPLE, SECTION, 'output', EPISODE, 'trajectory.json');
  await expect.poll(() => stage.locator('#world-status').textContent()).toBe(recordedStatus(trajectory, BEGINS));
  expect(await stage.locator(`#call-${TURN} .playhead`).count()).toBe(1);
}

describe.skipIf(vscode === null)('the call with the lowest advantage of the sample run', () => {
  it('is found on the way back, with the records in every view', async () => {
    expect(sample.advantage).toBe(Math.min(...samples.map(({ advantage }) => advantage ?? 0)));
    const { window, folder } = await session(
      { 'notes.txt': 'n' },
      {
        prepare: (at) => {
          cpSync(SAMPLE, join(at, 'runs/sample'), { recursive: true });
          mkdirSync(join(at, '.vscode'), { recursive: true });
          const launch = {
            ...{ type: 'planner-replay', request: 'launch', name: 'Sample' },
            ...{ run: 'sample', section: SECTION, episode: EPISODE, group: true },
          };
          writeFileSync(
            join(at, '.vscode/launch.json'),
            JSON.stringify({ version: '0.2.0', configurations: [launch] }),
          );
        },
      },
    );
    const { page } = window;
    const stage = window.webview;
    const { press, type } = page.keyboard;
    const key = press.bind(page.keyboard);
    const write = type.bind(page.keyboard);
    await page.setViewportSize({ width: 1700, height: 1100 });

    // With the mouse.
    await window.palette('View: Show Run and Debug');
    await button(window, /^Start Debugging/).click();
    await frame(window, 'turn 0').waitFor();
    await window.palette('View: Toggle Panel Visibility');
    await window.palette('AgenticRoboRL: Open Stage');
    await stage.locator('.frame canvas').waitFor();
    await page
      .locator('.debug-toolbar')
      .getByRole('button', { name: /^Continue/ })
      .click();
    await frame(window, 'outcome: reward 0').waitFor();
    await page.locator('.pane-header', { hasText: 'Breakpoints' }).hover();
    await button(window, 'Add Function Breakpoint').click();
    await page.locator('.debug-breakpoints input.input').fill(CONDITION);
    await key('Enter');
    await page.locator('.debug-breakpoints .monaco-list-row', { hasText: CONDITION }).waitFor();
    await button(window, /^Reverse/).click();
    await standsThere(window, stage);

    // The scopes: what is shown are the values of the records.
    const scope = (name: string) =>
      page
        .locator('.debug-variables .monaco-list-row')
        .filter({ hasText: new RegExp(`^${name}$`) })
        .first();
    const expected: Record<string, Record<string, unknown>> = {
      Outcome: { reward: 0, valid: true, attempt: 3, init: 41, task: '"tabletop_goal_swap/0"' },
      Tokens: { tokens: sample.responseLength, clipped: score.clipped.filter((flag) => flag > 0).length },
      Response: { finishReason: JSON.stringify(call.finishReason), latency: call.durations.total },
      Context: { turn: TURN, policyVersion: call.policyVersion, promptTokens: sample.promptLength },
      Credit: {
        ...{ advantage: sample.advantage, u: sample.u, L: sample.responseLength },
        status: JSON.stringify(sample.status),
      },
    };
    await page.locator('.pane-header', { hasText: 'Watch' }).click();
    const variables = page.locator('.pane-header', { hasText: 'Variables' });
    for (const [name, values] of Object.entries(expected)) {
      // The editor opens some by itself, and there is no room for all.
      await variables.hover();
      await variables.getByRole('button', { name: 'Collapse All' }).click();
      await scope(name).click();
      const wanted = Object.fromEntries(Object.entries(values).map(([field, value]) => [field, String(value)]));
      await expect.poll(() => shownValues(window)).toMatchObject(wanted);
    }
    await window.screenshot('sample-lowest-advantage');
    if (!FULL) return;

    const settings = (theme: string) =>
      writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ 'workbench.colorTheme': theme }));
    settings('Default High Contrast');
    await page.locator('.monaco-workbench.hc-black').waitFor();
    await stage.locator('body.vscode-high-contrast').waitFor();
    await standsThere(window, stage);
    await window.screenshot('sample-lowest-advantage-high-contrast');
    settings('Default Dark Modern');
    await page.locator('.monaco-workbench.vs-dark').waitFor();

    // By keyboard alone: no pointer is used from here on.
    const command = async (title: string) => {
      for (let attempt = 1; ; attempt++) {
        await key('F1');
        await window.input.waitFor();
        await write(title);
        try {
          await window.choice(title).waitFor({ timeout: 5000 });
          return await key('Enter');
        } catch (error) {
          // A page that has just been opened takes the focus, and the palette closes.
          if (attempt === 6) throw error;
          await key('Escape');
        }
      }
    };
    await key('Shift+F5');
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    await command('Remove All Breakpoints');
    await command('View: Close All Editors');
    await page.locator('.tab').first().waitFor({ state: 'detached' });
    await key('F5');
    await frame(window, 'turn 0').waitFor();
    await command('AgenticRoboRL: Open Stage');
    await stage.locator('.frame canvas').waitFor();
    await key('F5');
    await frame(window, 'outcome: reward 0').waitFor();
    // A conditional breakpoint on the line of the call.
    const found = window.statusItem(/Ln \d+, Col \d+ \(14 selected\)/);
    const find = async () => {
      await command('View: Focus First Editor Group');
      await page.locator('.monaco-editor.focused').waitFor();
      await key('Control+Home');
      await key('Control+F');
      await page.locator('.find-widget.visible .monaco-inputbox.synthetic-focus').waitFor();
      // In place of what a try before left there.
      await key('Control+A');
      await write(`turn ${TURN} · place`);
      const selected = await found.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      );
      await key('Escape');
      return selected;
    };
    await expect.poll(find).toBe(true);
    await command('Debug: Add Conditional Breakpoint');
    await page.locator('.breakpoint-widget .monaco-editor.focused').waitFor();
    await write('advantage < -0.5');
    await key('Enter');
    await page.locator('.debug-breakpoints .codicon-debug-breakpoint-conditional').waitFor();
    await key('Alt+F5');
    await standsThere(window, stage);
    await command('Run and Debug: Focus on Variables View');
    await key('Control+ArrowLeft');
    await expect.poll(() => shownValues(window)).toEqual({});
    await key('End');
    await page.locator('.debug-variables .monaco-list-row.focused', { hasText: 'Credit' }).waitFor();
    // The key opens the scope; pressed once more, it goes to its first value.
    const opened = async () => {
      await key('ArrowRight');
      return shownValues(window);
    };
    await expect.poll(opened, { interval: 1000 }).toMatchObject({ advantage: String(sample.advantage) });
    await window.screenshot('sample-lowest-advantage-keyboard');
    await key('Alt+F10');
    await frame(window, `turn ${TURN - 1}`).waitFor();
    await key('F10');
    await frame(window, `turn ${TURN}`).waitFor();
    // On from the stage, and all go along.
    await key('Control+2');
    await stage.locator('body').press('ArrowRight');
    await frame(window, `turn ${TURN + 1}`).waitFor();
    await expect.poll(() => here(window)).toMatch(new RegExp(`^turn ${TURN + 1} `));
  });
});
