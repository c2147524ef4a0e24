/** A page of the editor in a browser of its own, with the colours of a theme, and the real host's side behind it. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { pageDocument } from '../../../extension/panel/document.ts';
import { FLAGS, SCREENSHOTS } from './workbench.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** What the editor sets on the page for its themes, as VS Code's own have it. */
export const THEMES = {
  light: {
    class: 'vscode-light',
    variables: {
      ...{ 'editor-background': '#ffffff', 'editor-foreground': '#3b3b3b', foreground: '#3b3b3b' },
      ...{ 'editorWidget-border': '#c8c8c8', focusBorder: '#005fb8', 'badge-background': '#cccccc' },
      ...{ 'badge-foreground': '#3b3b3b', 'button-secondaryBackground': '#e5e5e5' },
      ...{ 'button-secondaryForeground': '#3b3b3b', 'charts-blue': '#0063d3', 'charts-orange': '#d18616' },
      ...{ 'charts-green': '#388a34', 'charts-purple': '#652d90', 'charts-lines': '#3b3b3b80' },
      ...{ 'progressBar-background': '#005fb8', 'dropdown-background': '#ffffff', 'dropdown-foreground': '#3b3b3b' },
    },
  },
  dark: {
    class: 'vscode-dark',
    variables: {
      ...{ 'editor-background': '#1f1f1f', 'editor-foreground': '#cccccc', foreground: '#cccccc' },
      ...{ 'editorWidget-border': '#313131', focusBorder: '#0078d4', 'badge-background': '#616161' },
      ...{ 'badge-foreground': '#f8f8f8', 'button-secondaryBackground': '#313131' },
      ...{ 'button-secondaryForeground': '#cccccc', 'charts-blue': '#59a4f9', 'charts-orange': '#d18616' },
      ...{ 'charts-green': '#89d185', 'charts-purple': '#b180d7', 'charts-lines': '#cccccc80' },
      ...{ 'progressBar-background': '#0078d4', 'dropdown-background': '#313131', 'dropdown-foreground': '#cccccc' },
    },
  },
  'high-contrast': {
    class: 'vscode-high-contrast',
    variables: {
      ...{ 'editor-background': '#000000', 'editor-foreground': '#ffffff', foreground: '#ffffff' },
      ...{ contrastBorder: '#6fc3df', focusBorder: '#f38518', 'badge-background': '#000000' },
      ...{ 'badge-foreground': '#ffffff', 'button-secondaryForeground': '#ffffff', 'charts-blue': '#59a4f9' },
      ...{ 'charts-orange': '#d18616', 'charts-green': '#89d185', 'charts-purple': '#b180d7' },
      ...{ 'progressBar-background': '#6fc3df', 'dropdown-background': '#000000', 'dropdown-foreground': '#ffffff' },
    },
  },
} as const;
export type ThemeName = keyof typeof THEMES;

export class PageWindow {
  readonly page: Page;
  /** What the browser had to complain of: refused by the policy, errors of the script. */
  readonly complaints: string[] = [];
  private readonly browser: Browser;
  private readonly close: () => void;
  /** Messages arrive in the order in which they were posted. */
  private posted: Promise<unknown> = Promise.resolve();

  private constructor(browser: Browser, page: Page, close: () => void) {
    this.browser = browser;
    this.page = page;
    this.close = close;
  }

  /**
   * @param hear what the page sends, as the editor hands it over.
   * @param name of the page's script and style sheet in dist/.
   * @param flags of Chromium, besides the usual ones.
   */
  static async open(
    theme: ThemeName,
    hear: (message: unknown) => void,
    name = 'run-page',
    flags: readonly string[] = [],
  ): Promise<PageWindow> {
    const files: Record<string, string> = { [`/${name}.mjs`]: 'text/javascript', [`/${name}.css`]: 'text/css' };
    const html = (source: string) =>
      pageDocument({
        ...{ script: `${source}/${name}.mjs`, style: `${source}/${name}.css`, source },
        ...{ nonce: 'n0nce', title: 'Run', language: 'en' },
      });
    const server = createServer(({ url = '/', headers }, answer) => {
      const type = files[url];
      answer.setHeader('content-type', type ?? 'text/html; charset=utf-8');
      if (url !== '/' && !type) answer.statusCode = 404;
      answer.end(type ? readFileSync(join(ROOT, 'dist', url)) : html(`http://${headers.host}`));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      headless: true,
      args: [...FLAGS, ...flags],
    });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' });
    const page = await context.newPage();
    const window = new PageWindow(browser, page, () => server.close());
    page.on('console', (said) => {
      if (said.type() === 'error' || said.type() === 'warning') window.complaints.push(said.text());
    });
    page.on('pageerror', (error) => window.complaints.push(error.message));
    page.on('dialog', (dialog) => {
      window.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.exposeFunction('hostHears', hear);
    // A page may ask for the icon of its site, which a webview has not.
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
    await page.addInitScript(() => {
      let state: unknown;
      const given = {
        postMessage: (message: unknown) =>
          (globalThis as unknown as { hostHears(sent: unknown): void }).hostHears(message),
        getState: () => state,
        setState: (next: unknown) => {
          state = next;
        },
      };
      Object.assign(globalThis, { acquireVsCodeApi: () => given });
    });
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await window.dress(theme);
    return window;
  }

  /** The editor changes its theme. */
  async dress(theme: ThemeName): Promise<void> {
    const { class: name, variables } = THEMES[theme];
    await this.page.evaluate(
      `document.documentElement.removeAttribute('style');
       for (const [name, value] of Object.entries(${JSON.stringify(variables)}))
         document.documentElement.style.setProperty('--vscode-' + name, value);
       document.body.className = ${JSON.stringify(name)};`,
    );
  }

  post(message: unknown): void {
    const sending = JSON.stringify(message);
    this.posted = this.posted
      .then(() => this.page.evaluate(`window.postMessage(${sending}, '*')`))
      .catch((error: Error) => {
        // A message may be under way when the page is closed.
        if (!this.page.isClosed()) throw error;
      });
  }

  /** Findings of axe that shut somebody out: serious and critical ones, with the places. */
  async shutOut(): Promise<string[]> {
    await this.page.evaluate(readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8'));
    const found = (await this.page.evaluate('axe.run()')) as {
      violations: { id: string; impact: string; nodes: { target: string[] }[] }[];
    };
    return found.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  }

  async end(): Promise<void> {
    await this.browser.close();
    this.close();
  }
}
