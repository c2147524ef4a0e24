/** The stage in a browser, with a real recorded group and a real replay session behind it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ReplaySession } from '../../extension/replay/session.ts';
import { StageConversation } from '../../extension/replay/stage/conversation.ts';
import { SessionSource } from '../../extension/replay/stage/session-source.ts';
import { stageWords } from '../../extension/replay/stage/wording.ts';
import { EPISODES, SECTION, type StagedOptions, stagedRun } from '../integration/staged-run.ts';
import { PageWindow, type ThemeName } from './bed/page-window.ts';
import { vscode } from './bed/server.ts';
import { recordedStatus } from './recorded-pose.ts';

/** Chromium without a graphics card draws by itself where it is told that it may. */
const SPACE = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];
const FLAT = ['--disable-3d-apis'];

// Chromium comes with the editor for tests.
describe.skipIf(vscode === null)('the stage', () => {
  const folders: string[] = [];
  let whole: string;

  async function recorded(options: StagedOptions = {}): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'stage-'));
    folders.push(folder);
    await stagedRun(folder, options);
    return folder;
  }
  beforeAll(async () => {
    whole = await recorded();
  });
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  interface Opening {
    theme?: ThemeName;
    directory?: string;
    episode?: string;
    flags?: string[];
  }

  async function opened({ theme = 'dark', directory = whole, episode = EPISODES[0], flags = SPACE }: Opening = {}) {
    const log: string[] = [];
    const session = await ReplaySession.open({ directory, section: SECTION, episode }, (text) => log.push(text));
    onTestFinished(() => session.close());
    const early: unknown[] = [];
    let hear = (message: unknown): void => void early.push(message);
    const window = await PageWindow.open(theme, (message) => hear(message), 'stage', flags);
    onTestFinished(() => window.end());
    const conversation = new StageConversation(new SessionSource(session), stageWords({ t: (text) => text }), {
      post: (message) => window.post(message),
      log: (text) => log.push(text),
    });
    onTestFinished(() => conversation.dispose());
    hear = (message) => void conversation.hear(message);
    for (const message of early) hear(message);
    const { page } = window;
    await page.locator('h1').waitFor();
    return { window, page, session, log };
  }

  const said = (page: Page) => page.locator('#news').textContent();
  const current = (page: Page) => page.locator('.column[aria-current]').textContent();
  /** What the record says of the robot when it has picked. */
  const afterPick = () => recordedStatus(join(whole, SECTION, 'output', EPISODES[0], 'trajectory.json'), 1.55);
  const worldAt = (page: Page) => page.locator('#world-status').textContent();
  /** Of the pixels of the drawn world, how many are unlike the most frequent colour. */
  const drawn = (page: Page, selector = '.frame canvas') =>
    page.evaluate(`(() => {
      const source = document.querySelector(${JSON.stringify(selector)});
      const copy = document.createElement('canvas');
      copy.width = source.width;
      copy.height = source.height;
      const context = copy.getContext('2d');
      context.drawImage(source, 0, 0);
      const { data } = context.getImageData(0, 0, copy.width, copy.height);
      const seen = new Map();
      for (let k = 0; k < data.length; k += 4) {
        const colour = (data[k] << 16) | (data[k + 1] << 8) | data[k + 2];
        seen.set(colour, (seen.get(colour) ?? 0) + 1);
      }
      return { colours: seen.size, share: 1 - Math.max(...seen.values()) / (data.length / 4) };
    })()`) as Promise<{ colours: number; share: number }>;

  it('shows the robot, the call, its picture with what was detected, the line and the group', async () => {
    const { window, page, log } = await opened();
    await page.locator('.frame canvas').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => said(page)).toBe('call 3 of 5: pick black-bowl rim, held; holding');
    await page.locator('#pictures figcaption', { hasText: 'picture of the wrist camera' }).waitFor();
    await expect.poll(async () => (await drawn(page, '#pictures canvas')).colours).toBeGreaterThan(20);
    await page.locator('#pictures figcaption', { hasText: 'Seen on it:' }).waitFor();
    expect((await drawn(page)).colours).toBeGreaterThan(200);
    expect(await page.locator('.column').count()).toBe(6);
    expect(await page.locator('#group tbody tr').count()).toBe(3);
    // The mark of the time stays at the call's column when the panel gets narrower, and when columns are measured anew.
    const marked = () =>
      page.evaluate(`(() => {
        const [mark, column] = ['.playhead', '.column[aria-current]'].map((one) => document.querySelector(one).getBoundingClientRect());
        return mark.left >= column.left - 1 && mark.left <= column.right + 1;
      })()`);
    expect(await marked()).toBe(true);
    const size = page.viewportSize() ?? { width: 0, height: 0 };
    await page.setViewportSize({ ...size, width: Math.round(size.width * 0.6) });
    await expect.poll(marked).toBe(true);
    await page.setViewportSize(size);
    await page.locator('#measure').selectOption('latency');
    expect(await marked()).toBe(true);
    await page.locator('#measure').selectOption('simulated');
    expect(await page.locator('.badge-good').textContent()).toBe('reward 1, goal reached in call 4');
    for (const theme of ['dark', 'light', 'high-contrast'] as const) {
      await window.dress(theme);
      expect(await window.shutOut(), theme).toEqual([]);
      await window.screenshot(`stage-${theme}`);
    }
    expect(complaints(window)).toEqual([]);
    expect(log).toEqual([]);
  });

  it('is used by keyboard alone, and the cursor goes along', async () => {
    const { window, page, session } = await opened({ theme: 'light' });
    const { cursor } = session;
    await page.locator('.frame canvas').waitFor();
    const press = (key: string) => page.keyboard.press(key);
    await press('End');
    await expect.poll(() => cursor.position).toEqual({ thread: 0, call: 4, part: 'outcome' });
    expect(await said(page)).toBe('outcome: reward 1, goal reached in call 4');
    await press('ArrowLeft');
    await press('ArrowLeft');
    await expect.poll(() => cursor.position).toEqual({ thread: 0, call: 3, part: 'call' });
    expect(await worldAt(page)).toBe(afterPick());
    await press('Home');
    await expect.poll(() => cursor.position).toEqual({ thread: 0, call: 0, part: 'call' });
    await press(']');
    await press(']');
    await expect.poll(() => said(page)).toBe('Speed 2×');
    await press('[');
    await expect.poll(() => said(page)).toBe('Speed 1.5×');
    await press('l');
    expect(await page.locator('#loop').getAttribute('aria-pressed')).toBe('true');
    await press('l');
    await press('d');
    expect(await page.locator('#detections').getAttribute('aria-pressed')).toBe('false');
    await press('v');
    expect(await page.locator('#view').inputValue()).toBe('front');
    const before = await drawn(page);
    await press('Shift+ArrowLeft');
    await press('+');
    expect(await drawn(page)).not.toEqual(before);

    await press('?');
    await page.locator('dialog[open]').waitFor();
    expect(await window.shutOut()).toEqual([]);
    await press('ArrowRight');
    expect(cursor.position.call).toBe(0);
    await press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });

    // By Tab to the tool of the call, and into the group.
    await press('ArrowRight');
    await press('ArrowRight');
    const reached = async (id: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await page.evaluate('document.activeElement?.id')) === id) {
          expect(await page.evaluate("document.activeElement.matches(':focus-visible')")).toBe(true);
          return;
        }
        await press('Tab');
      }
      throw new Error(`Tab does not lead to ${id}`);
    };
    await reached('tool-0');
    await press('Enter');
    await expect.poll(() => cursor.position).toEqual({ thread: 0, call: 2, part: 0 });
    await expect.poll(() => said(page)).toBe('call 3 of 5, tool call 1: pick black-bowl rim, held; holding');
    expect(await worldAt(page)).toBe(afterPick());
    expect(await page.evaluate('document.activeElement.id')).toBe('tool-0');
    // One stop for the line, whose arrows go on with the focus.
    await reached('call-2');
    await press('ArrowRight');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('call-3');
    await reached('enter-1');
    await press('Enter');
    await expect.poll(() => session.episode.id).toBe(EPISODES[1]);
    await page.locator('h1', { hasText: 'attempt 1' }).waitFor();
    await expect.poll(() => said(page)).toBe('call 4 of 5: release, released; gripper empty');
    expect(complaints(window)).toEqual([]);
  });

  it('plays to the end with the cursor, and goes where others go', async () => {
    const { page, session } = await opened();
    const { cursor } = session;
    await page.locator('.frame canvas').waitFor();
    const visited: number[] = [];
    session.onDidMove(({ to }) => visited.push(to.call));
    await page.locator('#speed').selectOption('4');
    await page.locator('#play').click();
    await expect.poll(() => page.locator('#play').getAttribute('aria-label')).toBe('Pause');
    await expect.poll(() => cursor.position.part).toBe('outcome');
    expect(visited).toEqual([1, 2, 3, 4, 4]);
    await expect.poll(() => page.locator('#play').getAttribute('aria-label')).toBe('Play');
    expect(await current(page)).toContain('reward 1');

    // The debugger, say, steps elsewhere: the page goes there and holds still.
    await cursor.goto({ thread: 0, call: 2, part: 0 });
    await expect.poll(() => worldAt(page)).toBe(afterPick());
    await cursor.stepBack();
    await expect.poll(() => worldAt(page)).toMatch(/^0 sec simulated/);
    expect(await current(page)).toContain('3 pick');

    // A call that is looped is not left.
    await page.keyboard.press('l');
    await page.locator('#play').click();
    await page.waitForTimeout(1500);
    expect(cursor.position).toEqual({ thread: 0, call: 2, part: 'call' });
    await page.locator('#play').click();
    await page.keyboard.press('l');

    // Dragging: many moves in a row, and both stand where the last one led.
    await page.evaluate(`(() => {
      const range = document.querySelector('#scrub');
      for (const share of [0.1, 0.9, 0.3, 0.95, 0.55, 0.2, 0.7]) {
        range.value = String(share * Number(range.max));
        range.dispatchEvent(new Event('input', { bubbles: true }));
      }
    })()`);
    await expect.poll(() => cursor.position).toEqual({ thread: 0, call: 3, part: 'call' });
    await page.waitForTimeout(300);
    expect(await current(page)).toContain('4 place');
    expect(cursor.position).toEqual({ thread: 0, call: 3, part: 'call' });
  });

  it('shows another attempt beside', async () => {
    const { window, page, session } = await opened();
    await page.locator('.frame canvas').waitFor();
    await page.keyboard.press('End');
    // Held in the middle of a call: looking at another attempt does not move it.
    await page.evaluate(`(() => {
      const range = document.querySelector('#scrub');
      range.value = '2.5';
      range.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    const held = await worldAt(page);
    expect(held).toMatch(/^1 sec simulated/);
    await page.locator('#beside-1').click();
    await expect.poll(() => page.locator('#beside-1').getAttribute('aria-pressed')).toBe('true');
    await page.locator('#world-note', { hasText: /^$/ }).waitFor({ state: 'attached' });
    await window.screenshot('stage-beside');
    // The snapshot that tells of the loaded attempt comes half a second later.
    await page.waitForTimeout(1000);
    expect(await worldAt(page)).toBe(held);
    await page.setViewportSize({ width: 480, height: 900 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await window.screenshot('stage-narrow');
    expect(session.episode.id).toBe(EPISODES[0]);
    await page.locator('#beside-1').click();
    await expect.poll(() => page.locator('#beside-1').getAttribute('aria-pressed')).toBe('false');
    expect(complaints(window)).toEqual([]);
  });

  it('draws the table from above where there is no WebGL', async () => {
    const { window, page } = await opened({ theme: 'high-contrast', flags: FLAT });
    await page.locator('#world-note', { hasText: 'no WebGL' }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    expect((await drawn(page)).colours).toBeGreaterThan(20);
    expect(await page.locator('.frame canvas').getAttribute('aria-label')).toMatch(/^The table from above at/);
    expect(await window.shutOut()).toEqual([]);
    await window.screenshot('stage-above');
    expect(complaints(window)).toEqual([]);
  });

  it('works with pictures only, and with neither', async () => {
    const onlyPictures = await opened({ directory: await recorded({ trajectories: false }), theme: 'light' });
    await onlyPictures.page.keyboard.press('ArrowRight');
    await onlyPictures.page.keyboard.press('ArrowRight');
    await expect.poll(async () => (await drawn(onlyPictures.page, '#pictures canvas')).colours).toBeGreaterThan(20);
    await onlyPictures.page.locator('#world-note', { hasText: 'No motion was recorded' }).waitFor();
    expect(await onlyPictures.page.locator('.frame').isVisible()).toBe(false);
    expect(await onlyPictures.window.shutOut()).toEqual([]);
    await onlyPictures.window.screenshot('stage-pictures-only');

    const neither = await opened({ directory: await recorded({ trajectories: false, pictures: false }) });
    await neither.page.locator('#pictures', { hasText: 'no picture' }).waitFor();
    await neither.page.locator('#speed').selectOption('4');
    await neither.page.keyboard.press('Tab');
    await neither.page.locator('#play').click();
    await expect.poll(() => neither.session.cursor.position.part).toBe('outcome');
    expect(await neither.window.shutOut()).toEqual([]);
    await neither.window.screenshot('stage-neither');
    for (const { window } of [onlyPictures, neither]) expect(complaints(window)).toEqual([]);
  });

  it('says what is damaged, shows texts as texts, and survives messages that are none', async () => {
    const directory = await recorded();
    const output = join(directory, SECTION, 'output', EPISODES[0]);
    writeFileSync(join(output, 'trajectory.json'), '{"version":1,"bodies":[]}');
    const calls = join(directory, SECTION, 'calls.jsonl');
    const lines = readFileSync(calls, 'utf8').split('\n');
    // The last call starts from this one.
    lines[3] = lines[3].slice(0, 100);
    lines[2] = lines[2].replace('I take black-bowl.', '<img src=x onerror=\\"window.broken=1\\">');
    writeFileSync(calls, lines.join('\n'));
    rmSync(join(directory, 'blobs'), { recursive: true });
    const { window, page, log } = await opened({ directory });
    await page.locator('#world-note', { hasText: 'The motion cannot be shown: trajectory trajectory.json' }).waitFor();
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowRight');
    await page.locator('#call', { hasText: 'This call cannot be read' }).waitFor();
    await page.keyboard.press('ArrowRight');
    // What the call holds itself is shown, with a word about what it does not.
    await page
      .locator('#call .notice', {
        hasText: /Not all that belongs to this call can be read: its messages start from call /,
      })
      .waitFor();
    await page.locator('.spoken', { hasText: 'It is there.' }).waitFor();
    expect(await page.locator('#call-4').getAttribute('class')).toContain('broken');
    await window.screenshot('stage-damaged-context');
    for (const _ of [1, 2]) await page.keyboard.press('ArrowLeft');
    await page.locator('.spoken', { hasText: '<img src=x' }).waitFor();
    await page.locator('#pictures', { hasText: 'The picture cannot be shown' }).waitFor();
    expect(await page.evaluate('window.broken')).toBeUndefined();
    window.post({ type: 'snapshot', episode: 7 });
    await page.locator('.unreadable').waitFor();
    expect(log.some((line) => line.includes('unreadable'))).toBe(true);
    await window.screenshot('stage-damaged');
    expect(complaints(window)).toEqual([]);
  });
});

/** Without what the browser says about the speed of this test's own reading of pixels. */
function complaints(window: PageWindow): string[] {
  return window.complaints.filter((text) => !text.includes('GPU stall due to ReadPixels'));
}
