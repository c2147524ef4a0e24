/** A window of the workbench in Chromium, driven as a person does: palette, editors, views. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type FrameLocator, type Locator, type Page } from 'playwright-core';
import { packageRoot } from '../../../trainer-daemon/bundles.ts';

/** Screenshots of the last run, not in version control. */
export const SCREENSHOTS = join(packageRoot(), 'test/workbench/screenshots');

export const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

const PALETTE_MS = 5000;
const PALETTE_ATTEMPTS = 12;
const UNFOLD_ATTEMPTS = 20;
const HEARD_MS = 10_000;
const HEARD_ATTEMPTS = 6;

export class Workbench {
  readonly page: Page;
  private readonly browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.browser = browser;
    this.page = page;
  }

  /** Opens a folder, or a `.code-workspace` file, in a new window and waits until the workbench is there. */
  static async open(url: string, place: string): Promise<Workbench> {
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args: FLAGS });
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const workbench = new Workbench(browser, page);
      await page.goto(
        `${url}/?${place.endsWith('.code-workspace') ? 'workspace' : 'folder'}=${encodeURIComponent(place)}`,
      );
      await page.locator('.monaco-workbench').waitFor();
      return workbench;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** Reloads the window, and with it the extension host. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.locator('.monaco-workbench').waitFor();
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  /** What is in the page of the panel in front. */
  get webview(): FrameLocator {
    return this.page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');
  }

  /** The box of the palette and of every question with choices or text. */
  get input(): Locator {
    return this.page.locator('.quick-input-widget input.input:visible');
  }

  /** Rows of the palette or of a question that have a text. */
  choice(text: string | RegExp): Locator {
    return this.page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: text }).first();
  }

  /** Runs a command from the palette; F1 works whatever has the focus. */
  async palette(title: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.page.keyboard.press('F1');
      await this.input.waitFor();
      await this.input.fill(`>${title}`);
      try {
        await this.choice(title).click({ timeout: PALETTE_MS });
        return;
      } catch (error) {
        // A window that has just opened does not know every extension yet, and its palette does not look again.
        if (attempt === PALETTE_ATTEMPTS) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  /** Presses a key that may be pressed twice, until something is there. */
  async press(key: string, then: Locator): Promise<void> {
    await this.until(then, () => this.page.keyboard.press(key), HEARD_MS);
  }

  /**
   * Does what may be done twice, until something is there: a window that is busy may not hear it.
   * @param patience milliseconds after which it is done again.
   */
  async until(then: Locator, act: () => Promise<void>, patience: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await act();
      try {
        return await then.waitFor({ timeout: patience });
      } catch (error) {
        if (attempt === HEARD_ATTEMPTS) throw error;
      }
    }
  }

  /** Opens a file of the workspace by its name. */
  async openFile(name: string): Promise<Locator> {
    await this.page.keyboard.press('Control+P');
    await this.input.waitFor();
    await this.input.fill(name);
    await this.choice(name).click();
    const editor = this.page.locator('.editor-instance .monaco-editor').first();
    await editor.waitFor();
    return editor;
  }

  /** Rows of the extension's trees with a text. */
  row(text: string | RegExp): Locator {
    return this.page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
  }

  /** Unfolds a row of a tree by its arrow. */
  async unfold(row: Locator): Promise<void> {
    // A tree that has just learnt of its runs is drawn anew, and may forget a click.
    for (let attempt = 1; (await row.getAttribute('aria-expanded')) !== 'true'; attempt++) {
      if (attempt > UNFOLD_ATTEMPTS) throw new Error(`a row stays folded: ${await row.textContent()}`);
      await row.locator('.monaco-tl-twistie').click();
      await this.page.waitForTimeout(500);
    }
  }

  /** A notification with a text. */
  notification(text: string | RegExp): Locator {
    return this.page.locator('.notifications-toasts .notification-list-item').filter({ hasText: text }).first();
  }

  /** An item of the status bar with a text. */
  statusItem(text: string | RegExp): Locator {
    return this.page.locator('.statusbar-item').filter({ hasText: text }).first();
  }

  async showProblems(): Promise<void> {
    await this.page.keyboard.press('Control+Shift+M');
    await this.page.locator('.markers-panel').waitFor();
  }

  /** Rows of the Problems panel, once it is shown. */
  problem(text: string | RegExp): Locator {
    return this.page.locator('.markers-panel .monaco-list-row').filter({ hasText: text }).first();
  }

  /** Applies the quick fix of a finding in the Problems panel. */
  async quickFix(problem: string | RegExp, title: string | RegExp): Promise<void> {
    await this.problem(problem).click();
    await this.page.keyboard.press('Control+.');
    await this.page.getByRole('menuitem', { name: title }).first().click();
  }
}
