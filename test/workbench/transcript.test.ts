/** The transcript of an episode in the editor: opened, walked through and compared by keyboard; in full, in three themes. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { FULL } from '../full.ts';
import { temporaryFolder } from '../integration/quick-run.ts';
import { vscode } from './bed/server.ts';
import { session } from './bed/session.ts';
import type { Workbench } from './bed/workbench.ts';
import { recordLong, recordTalk } from './recorded-talk.ts';

async function withTalk(trusted: boolean) {
  const made = temporaryFolder();
  await recordTalk(join(made, 'talk'));
  return session(
    { 'a.training.yaml': 'version: 1\n' },
    {
      settings: { 'security.workspace.trust.enabled': !trusted },
      prepare: (at) => cpSync(join(made, 'talk'), join(at, 'runs/talk'), { recursive: true }),
    },
  );
}

const line = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.editor-instance .view-line').filter({ hasText: text }).first();
const lens = ({ page }: Workbench, text: string | RegExp) =>
  page.locator('.codelens-decoration a').filter({ hasText: text, visible: true }).first();
/** Lenses are drawn anew while the text scrolls, and forget a click that comes meanwhile. */
const useLens = (window: Workbench, text: string, then: Locator) =>
  window.until(then, () => lens(window, text).click(), 5000);
/** The heading of the call that the replay stands at; the words beside it are the editor's, not the text's. */
const here = ({ page }: Workbench) =>
  page.evaluate(`(() => {
    const all = [...document.querySelectorAll('.editor-instance .view-line span')];
    const marked = all.find((span) => getComputedStyle(span, '::after').content.includes('the replay is here'));
    return marked?.closest('.view-line')?.textContent.replaceAll('\\u00a0', ' ') ?? '';
  })()`);

/** All words in and beside the line that begins so. */
const wordsOf = ({ page }: Workbench, start: string) =>
  page.evaluate(`(() => {
    const lines = [...document.querySelectorAll('.editor-instance .view-line')];
    const line = lines.find(({ textContent }) => textContent.replaceAll('\\u00a0', ' ').startsWith(${JSON.stringify(start)}));
    const beside = (span) => ['::before', '::after'].map((part) => getComputedStyle(span, part).content);
    const all = [...(line?.querySelectorAll('span') ?? [])];
    return all.flatMap((span) => [span.textContent, ...beside(span)]).join(' ').replaceAll('\\u00a0', ' ');
  })()`);

describe.skipIf(vscode === null)('the transcript of an episode', () => {
  it('is opened and walked through by keyboard, tells tokens and credit, and compares attempts; also where nothing is trusted', async () => {
    const { window, folder, daemon } = await withTalk(false);
    const { page } = window;
    await page.setViewportSize({ width: 1700, height: 1000 });
    await window.openFile('a.training.yaml');
    await window.palette('AgenticRoboRL: Open Transcript');
    await window.choice('attempt 0').waitFor();
    await window.input.fill('attempt 0');
    await page.keyboard.press('Enter');
    await line(window, 'episode 1f0c2ab9').waitFor();

    // What became of each call, with the numbers of samples.jsonl.
    await lens(window, 'reward 1 · advantage +1 · trained on, u 0.333333').waitFor();
    // The long instruction is folded, what is in the request is a picture's link, hostile text is shown as marks.
    await page.locator('.inline-folded').first().waitFor();
    expect(await line(window, 'Rule 7').count()).toBe(0);
    await page.locator('.detected-link', { hasText: '[image image/png' }).first().waitFor();
    await expect.poll(() => here(window)).toContain('turn 0');
    await page.locator('[class*="ced-"][class*="TextEditorDecorationType"]').first().waitFor({ state: 'attached' });
    await window.screenshot('transcript');

    // Steps by keyboard; the text stays in step, and tells the end.
    await line(window, 'episode 1f0c2ab9').click();
    for (let k = 0; k < 3; k++) await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(() => here(window)).toContain('turn 3');
    await lens(window, 'not trained on: rendering the prompt again gave other tokens than recorded').waitFor();
    await line(window, 'placed').waitFor();
    expect((await page.locator('.view-lines').first().textContent())?.includes('\u202e')).toBe(false);
    await window.screenshot('transcript-last-call');
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(() => here(window)).toContain('turn 2');

    // A token's numbers.
    await line(window, 'Now to the plate').locator('span span').first().hover();
    await page.locator('.monaco-hover:visible', { hasText: 'log b' }).waitFor();
    await window.screenshot('transcript-hover');
    await page.mouse.move(2, 2);

    // Full context, in place; then as it was sampled.
    await useLens(window, 'Full context', lens(window, 'Only what is new'));
    await window.press('Control+Home', line(window, 'episode 1f0c2ab9'));
    await useLens(window, 'As sampled', line(window, '<think>'));
    await window.screenshot('transcript-sampled');
    await page.keyboard.press('Control+W');

    // Two attempts, from the first call at which they differ.
    await line(window, 'episode 1f0c2ab9').waitFor();
    await window.palette('AgenticRoboRL: Compare with Another Attempt');
    await window.choice('attempt 1').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.monaco-diff-editor .view-line', { hasText: 'I put it beside' }).waitFor();
    expect(await page.locator('.monaco-diff-editor .view-line', { hasText: 'First I look' }).count()).toBe(0);
    // How long a call took is no difference.
    expect(await page.locator('.monaco-diff-editor .view-line', { hasText: /turn \d.* ms/ }).count()).toBe(0);
    await window.screenshot('transcript-compared');
    await page.keyboard.press('Control+W');

    // The prompt as it was recorded beside the one that its messages make.
    await line(window, 'episode 1f0c2ab9').waitFor();
    await page.keyboard.press('Control+End');
    const rendered = page.locator('.monaco-diff-editor .view-line', { hasText: 'other words' }).first();
    await useLens(window, 'Compare prompts', rendered);
    await window.screenshot('transcript-prompts');
    const first = page.locator('.monaco-diff-editor .view-line', { hasText: 'the first that differs' });
    await window.press('Control+End', first.nth(1));
    await page.keyboard.press('Control+W');

    // A recorded picture, by keyboard: the text cursor on its link, and the editor's own command.
    await line(window, 'outcome · reward 1').waitFor();
    await window.press('Control+Home', line(window, 'episode 1f0c2ab9'));
    const box = page.locator('.find-widget.visible .find-part textarea');
    await window.press('Control+F', box);
    await box.fill('[image image/png');
    await page.keyboard.press('Escape');
    await window.palette('Open Link');
    await page.locator('.tab.active', { hasText: '.png' }).waitFor();
    const shown = window.webview.locator('img.scale-to-fit');
    await shown.waitFor();
    const size = await shown.evaluate((image: unknown) => {
      const { naturalWidth, naturalHeight } = image as { naturalWidth: number; naturalHeight: number };
      return [naturalWidth, naturalHeight];
    });
    expect(size).toEqual([64, 48]);
    await window.screenshot('transcript-picture');
    expect(daemon()).toBeUndefined();
    if (!FULL) return;
    await window.palette('View: Close Editor');

    // After a reload of the window it is there again, as text and with all that is shown in it.
    await page.locator('.tab.active', { hasText: '.episode' }).waitFor();
    await window.reload();
    // Which editor was in front the editor writes down a while later.
    await page.locator('.tab', { hasText: '.episode' }).click();
    const atTop = async () => {
      await page.keyboard.press('Control+Home');
      return line(window, 'episode 1f0c2ab9').isVisible();
    };
    await expect.poll(atTop, { interval: 500 }).toBe(true);
    await lens(window, 'reward 1 · advantage +1 · trained on, u 0.333333').waitFor();
    await page.locator('[class*="ced-"][class*="TextEditorDecorationType"]').first().waitFor({ state: 'attached' });
    await window.screenshot('transcript-after-reload');

    for (const [theme, name] of [
      ['Default High Contrast', 'high-contrast'],
      ['Default Dark Modern', 'dark'],
    ]) {
      mkdirSync(join(folder, '.vscode'), { recursive: true });
      writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ 'workbench.colorTheme': theme }));
      await page.locator(name === 'dark' ? '.monaco-workbench.vs-dark' : '.monaco-workbench.hc-black').waitFor();
      await window.screenshot(`transcript-${name}`);
    }

    // Colours tell another thing when they are asked to: what training changed, in place of what was likely.
    const colours = () =>
      page.evaluate(`[...document.querySelectorAll('.view-overlays .cdr[class*="TextEditorDecorationType"]')]
        .map((one) => [one.getBoundingClientRect().left, getComputedStyle(one).backgroundColor].join(' ')).sort().join('; ')`);
    // The end has tokens whether long prompts were folded or not.
    await page.keyboard.press('Control+End');
    await expect.poll(colours).toMatch(/rgba\((?!0, 0, 0, 0\))/);
    const likely = await colours();
    await window.palette('AgenticRoboRL: Colours of Tokens');
    await window.choice('How much likelier training made it').click();
    await expect.poll(colours).not.toBe(likely);
    await expect.poll(colours).toContain('rgba');
    await window.screenshot('transcript-ratio');
    expect(daemon()).toBeUndefined();
  });

  it.runIf(FULL)('stays in step with the debugger, both ways, and tells values while it is stopped', async () => {
    const { window } = await withTalk(true);
    const { page } = window;
    await page.setViewportSize({ width: 1700, height: 1000 });
    await window.openFile('a.training.yaml');
    await window.palette('AgenticRoboRL: Replay Episode');
    await window.choice('attempt 0').waitFor();
    await window.input.fill('attempt 0');
    await page.keyboard.press('Enter');
    await expect.poll(() => here(window)).toContain('turn 0');
    await page.locator('.debug-toolbar').waitFor();
    // Room for the text.
    await page.keyboard.press('Control+J');
    // Inline, beside the call that the replay is stopped at.
    await expect.poll(() => wordsOf(window, 'turn 0')).toContain('A +1, u 0.333333');
    await page.keyboard.press('F10');
    await expect.poll(() => here(window)).toContain('turn 1');
    await expect.poll(() => wordsOf(window, 'turn 1')).toContain('A +1, u 0.333333');
    await window.screenshot('transcript-debugged');

    // From the text to the debugger: its frame is where the text was clicked.
    await line(window, 'Now to the plate').click();
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => here(window)).toContain('turn 2');
    await window.statusItem('Ln 70, Col 1').waitFor();
    // A full context moves lines; what is marked stays the call.
    await useLens(window, 'Full context', lens(window, 'Only what is new'));
    await expect.poll(() => here(window)).toContain('turn 2');
    await page.keyboard.press('F10');
    await expect.poll(() => here(window)).toContain('turn 3');
    await window.screenshot('transcript-debugged-full');
  });

  it.runIf(FULL)('of a long episode shows its first calls at once, and all of them soon after', async () => {
    const made = temporaryFolder();
    await recordLong(join(made, 'long'), 400);
    const { window } = await session(
      { 'a.training.yaml': 'version: 1\n' },
      { prepare: (at) => cpSync(join(made, 'long'), join(at, 'runs/long'), { recursive: true }) },
    );
    const { page } = window;
    await window.openFile('a.training.yaml');
    await window.palette('AgenticRoboRL: Open Transcript');
    await window.choice('attempt 0').waitFor();
    await page.keyboard.press('Enter');
    await line(window, 'episode long').waitFor();
    await line(window, 'Seen at 0').waitFor();
    await expect.poll(() => line(window, 'are to come').count()).toBe(0);
    await line(window, 'episode long').click();
    await window.press('Control+End', line(window, 'outcome · reward 0'));
  });
});
