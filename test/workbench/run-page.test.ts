/** The run page in a browser, with a real training behind it: what is drawn, saved, said, and never run. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Conversation } from '../../extension/run-page/conversation.ts';
import { csvOf } from '../../extension/run-page/csv.ts';
import { PLOT_IDS, plotTable } from '../../extension/run-page/plots.ts';
import type { RunPageSource } from '../../extension/run-page/source.ts';
import { pageWords } from '../../extension/run-page/wording.ts';
import type { JournalEvent, JournalLine } from '../../protocol/journal.ts';
import { bench } from '../integration/daemon-bench.ts';
import { finished, followedTraining } from '../integration/followed-page.ts';
import { PageWindow, type ThemeName } from './bed/page-window.ts';
import { vscode } from './bed/server.ts';

const HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';

// Chromium comes with the editor for tests.
describe.skipIf(vscode === null)('the run page', () => {
  const endings: (() => Promise<void>)[] = [];
  let directory: string;
  let source: RunPageSource;
  let open: () => Promise<RunPageSource>;
  const data = () => source.model.data(Date.now());

  beforeAll(async () => {
    const begun = await followedTraining(bench((work) => endings.push(work)));
    ({ directory, source, open } = begun);
  });
  afterAll(async () => {
    source?.dispose();
    for (const end of endings) await end();
  });

  /** A page with its conversation; both go with the test. */
  async function opened(theme: ThemeName, from: RunPageSource = source) {
    const saved = new Map<string, Uint8Array>();
    const log: string[] = [];
    const early: unknown[] = [];
    let hear = (message: unknown): void => void early.push(message);
    const window = await PageWindow.open(theme, (message) => hear(message));
    onTestFinished(() => window.end());
    const restore = { folder: 'file:///w', run: 'runs/page' };
    const conversation = new Conversation(from.model, pageWords({ t: (text) => text }), restore, {
      post: (message) => window.post(message),
      save: (name, bytes) => saved.set(name, bytes),
      log: (text) => log.push(text),
    });
    hear = (message) => conversation.hear(message);
    for (const message of early) conversation.hear(message);
    const listening = from.onChange(() => conversation.changed());
    onTestFinished(() => {
      listening.dispose();
      conversation.dispose();
    });
    await window.page.locator('h1').waitFor();
    return { window, page: window.page, saved, log };
  }

  /** The run's journal goes on, as if its process wrote. */
  function tell(event: JournalEvent): void {
    const path = join(directory, 'journal.jsonl');
    const last = JSON.parse(readFileSync(path, 'utf8').trim().split('\n').at(-1) ?? '') as JournalLine;
    const line: JournalLine = { seq: last.seq + 1, at: new Date().toISOString(), event };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  }

  it('that grew with a training shows what one shows that is opened at its end', async () => {
    const grown = await opened('dark');
    await grown.page.locator('[data-plot="success"] canvas').waitFor();
    await finished(source);
    expect(data().rounds).toHaveLength(3);
    const late = await opened('dark');
    await grown.page.locator('.badge', { hasText: 'finished' }).waitFor();
    for (const { page } of [grown, late])
      for (const save of await page.getByRole('button', { name: 'Save as PNG' }).all()) await save.click();
    await expect.poll(() => grown.saved.size).toBe(late.saved.size);
    expect(grown.saved.size).toBeGreaterThan(8);
    for (const [name, picture] of late.saved)
      expect(Buffer.compare(picture, grown.saved.get(name) ?? Buffer.of()), name).toBe(0);
    const texts = (page: typeof late.page) => page.locator('main').textContent();
    expect(await texts(grown.page)).toBe(await texts(late.page));
  });

  it('has a plot and a table of the same rows for all that there is, and nothing shuts anybody out', async () => {
    const { window, page } = await opened('dark');
    const drawn = PLOT_IDS.filter((id) => plotTable(data(), id).rows.length > 0);
    expect(drawn).toEqual(
      expect.arrayContaining(['success', 'reward', 'sftLoss', 'rlLoss', 'clipping', 'kl', 'lengths']),
    );
    expect(
      await page.locator('[data-plot]').evaluateAll((all) => all.map((one) => one.getAttribute('data-plot'))),
    ).toEqual(drawn);
    for (const id of drawn) {
      const plot = page.locator(`[data-plot="${id}"]`);
      const { rows } = plotTable(data(), id);
      expect(await plot.locator('tbody tr').count(), id).toBe(rows.length);
      expect(await plot.locator('tbody th').allTextContents(), id).toEqual(rows.map(([x]) => String(x)).reverse());
      expect(await plot.locator('canvas').count()).toBe(1);
    }
    const steps = data().steps.filter(({ stage }) => stage === 'sft');
    const lossOf = (value: number | null) =>
      new Intl.NumberFormat('en', { maximumSignificantDigits: 4 }).format(value ?? 0);
    expect(await page.locator('[data-plot="sftLoss"] tbody tr td:nth-child(2)').allTextContents()).toEqual(
      steps.map(({ loss }) => lossOf(loss)).reverse(),
    );
    expect(await page.locator('#evaluations thead th').allTextContents()).toEqual(
      expect.arrayContaining(['Suite', 'base', 'SFT', 'SFT against base, p']),
    );
    expect(await page.locator('#samples tbody th').first().textContent()).toMatch(/^(?:selected|zero-weight|not-)/);
    for (const theme of ['dark', 'light', 'high-contrast'] as const) {
      await window.dress(theme);
      expect(await window.shutOut(), theme).toEqual([]);
      await window.screenshot(`run-page-${theme}`);
    }
    expect(window.complaints).toEqual([]);
  });

  it('is used by keyboard alone: points of a plot are read, files are saved', async () => {
    const { window, page, saved, log } = await opened('light');
    const plot = page.locator('[data-plot="success"]');
    // The first thing that Tab reaches in the plot's part is its button; the plot itself comes after both.
    await plot.getByRole('button', { name: 'Save as CSV: Success by round' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    const { rows } = plotTable(data(), 'success');
    await expect
      .poll(() => plot.locator('.point').textContent())
      .toMatch(new RegExp(`^Round ${rows.at(-1)?.[0]}, Rollouts`));
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => plot.locator('.point').textContent()).toMatch(new RegExp(`^Round ${rows.at(-2)?.[0]},`));
    expect(await plot.locator('.point').getAttribute('aria-live')).toBe('polite');

    await expect.poll(() => [...saved.keys()]).toEqual(['page-success.csv', 'page-success.png']);
    expect(Buffer.from(saved.get('page-success.csv') ?? []).toString()).toBe(csvOf(data(), 'success'));
    const picture = PNG.sync.read(Buffer.from(saved.get('page-success.png') ?? []));
    const colours = new Set<number>();
    for (let at = 0; at < picture.data.length; at += 4) colours.add(picture.data.readUInt32BE(at));
    expect(picture.width).toBeGreaterThan(300);
    // White paper, and the two curves of a light theme on it.
    for (const colour of [0xffffffff, 0x0063d3ff, 0xd18616ff])
      expect(colours.has(colour), colour.toString(16)).toBe(true);
    expect(log).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it('shows texts of a run as texts, says aloud what is new, and survives messages that are none', async () => {
    const { window, page, log } = await opened('dark');
    tell({ type: 'warning', message: HOSTILE });
    await page.locator('.warnings li', { hasText: HOSTILE }).waitFor();
    await expect.poll(() => page.locator('#news').textContent()).toBe(`Warning: ${HOSTILE}`);
    // A list that is open does not close because an episode has ended: it is the same one as before.
    const choice = await page.locator('#samples-round').elementHandle();
    const [task, episodes] = ['quick/0', data().rounds[2].rollouts?.episodes ?? 0];
    tell({
      ...{ type: 'episode-finished', section: 'rounds/0002', episode: 'e', task, init: 1, attempt: 0, reward: 1 },
      ...{ valid: true, invalidReason: null, turns: 1 },
    });
    await page.locator('[data-plot="reward"] tbody tr:first-child td', { hasText: String(episodes + 1) }).waitFor();
    expect(await choice?.evaluate((list) => list.isConnected)).toBe(true);
    tell({ type: 'run-failed', message: `broke ${HOSTILE}` });
    await page.locator('.notice-error', { hasText: `broke ${HOSTILE}` }).waitFor();
    window.post({ type: 'snapshot', data: { head: HOSTILE } });
    window.post(HOSTILE);
    await page.locator('.unreadable').waitFor();
    expect(await page.locator('h1').textContent()).toBe('page');
    expect(log.filter((text) => text.includes('unreadable'))).toHaveLength(2);

    // A run that came with a cloned repository may be called anything, and so may its suites.
    const info = join(directory, 'run.json');
    writeFileSync(info, JSON.stringify({ ...JSON.parse(readFileSync(info, 'utf8')), name: HOSTILE }));
    const again = await open();
    onTestFinished(() => again.dispose());
    const { evaluations } = data();
    if (!evaluations) throw new Error('the run has no evaluation');
    const [planner] = evaluations.planners;
    const suites = { [HOSTILE]: planner.overall, constructor: planner.overall };
    again.model.takeReport({
      rounds: [],
      evaluations: { ...evaluations, planners: [{ ...planner, label: HOSTILE, suites }] },
    });
    const other = await opened('dark', again);
    await expect.poll(() => other.page.locator('h1').textContent()).toBe(HOSTILE);
    for (const one of [page, other.page]) {
      expect(await one.evaluate('window.broken')).toBeUndefined();
      expect(await one.locator('img, main script, iframe').count()).toBe(0);
    }
    expect([...window.complaints, ...other.window.complaints]).toEqual([]);
  });
});
