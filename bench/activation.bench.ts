/**
 * What the extension costs a window, beside VS Code's own extensions in the same window: the packaged extension in a real
 * VS Code (test/workbench/bed), each time in a new window with an extension host of its own. The figures are the editor's,
 * from "Developer: Startup Performance".
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installExtension } from '../test/workbench/bed/extension.ts';
import { installed } from '../test/workbench/bed/install.ts';
import { VsCodeServer } from '../test/workbench/bed/vscode-server.ts';
import { Workbench } from '../test/workbench/bed/workbench.ts';
import { packageRoot } from '../trainer-daemon/bundles.ts';
import { type Activation, activationsIn } from './activations.ts';
import { median, spread } from './measure.ts';
import type { BenchTable } from './table.ts';

const STARTS = 7;
const OURS = 'agentic-robo-rl.agentic-robo-rl';

/** What any project has; the built-in extensions start for it. */
const ANYONES = {
  'package.json': '{ "name": "arm", "version": "1.0.0" }\n',
  'tsconfig.json': '{ "compilerOptions": { "strict": true } }\n',
  'src/grip.ts': 'export const grip = (width: number) => width / 2;\n',
  'README.md': '# Arm\n',
  'compose.yaml': 'services: {}\n',
};
const CONFIG = 'table.training.yaml';
const WITH_OURS = { ...ANYONES, [CONFIG]: 'version: 1\nname: table\nharness:\n  adapter: tabletop-skills\n' };
const OPENED = ['compose.yaml', 'package.json', 'README.md', 'grip.ts'];

export default async function activation(): Promise<BenchTable[]> {
  const packaged = spawnSync(process.execPath, [join(packageRoot(), 'scripts/package/main.mjs')], { encoding: 'utf8' });
  if (packaged.status !== 0) throw new Error(`the extension cannot be packaged: ${packaged.stderr.trim()}`);
  const folder = installed();
  const profile = installExtension(folder);
  const server = await VsCodeServer.start({ folder, profile });
  try {
    const withOurs = await windows(server, 'with', WITH_OURS, [...OPENED, CONFIG]);
    const without = await windows(server, 'without', ANYONES, OPENED);
    const active = withOurs.filter((all) => all.some(({ id }) => id === OURS)).length;
    if (active < STARTS) throw new Error(`the extension was active in ${active} of ${STARTS} windows with a config`);
    return [
      {
        title: `Milliseconds of activation, median (least-most) of ${STARTS} windows`,
        columns: ['extension', 'loading its code', 'its activate', 'both', 'until it is ready', 'windows'],
        rows: rowsOf(withOurs),
        note: 'A workspace with a training config, which is open; listed are the extensions that every window had. Loading and `activate` hold up the extension host, and with it all other extensions. Ready: with what an extension does in the background before it says so; ours starts its language server and, where there are runs, the daemon as processes, and nobody waits for them.',
      },
      {
        title: 'The same in a workspace without a file of ours',
        columns: ['extension', 'loading its code', 'its activate', 'both', 'until it is ready', 'windows'],
        rows: rowsOf(without),
        note: 'The same files save the config. 0 windows: not activated, not loaded.',
      },
    ];
  } finally {
    await server.stop();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** Activations in each of some windows, opened one after the other on a folder with these files. */
async function windows(
  server: VsCodeServer,
  name: string,
  files: Record<string, string>,
  opened: string[],
): Promise<Activation[][]> {
  const folder = join(server.folder, 'work', name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const found: Activation[][] = [];
  // The first window of a profile is slow for everybody: it does not count.
  for (let start = -1; start < STARTS; start++) {
    const window = await Workbench.open(server.url, folder);
    try {
      for (const file of opened) await window.openFile(file);
      const activations = await settled(window);
      if (start >= 0) found.push(activations);
    } finally {
      await window.close();
    }
  }
  return found;
}

/** The editor's table once two looks give the same extensions. */
async function settled(window: Workbench): Promise<Activation[]> {
  let before: Activation[] = [];
  for (let look = 0; look < 20; look++) {
    await window.page.waitForTimeout(2000);
    const now = activationsIn(await startupPerformance(window));
    if (now.length > 0 && now.length === before.length) return now;
    before = now;
  }
  throw new Error('extensions went on being activated for 40 s');
}

/** The text of "Developer: Startup Performance". */
async function startupPerformance(window: Workbench): Promise<string> {
  const { page } = window;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // One that is open shows the figures of when it was opened.
  await window.palette('View: Close All Editors');
  await window.palette('Developer: Startup Performance');
  const lines = page.locator('.editor-instance .view-lines');
  await lines.filter({ hasText: 'System Info' }).first().click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+C');
  return page.evaluate('navigator.clipboard.readText()') as Promise<string>;
}

/** Ours first, then those that were active in every window, the slowest first. */
function rowsOf(found: Activation[][]): BenchTable['rows'] {
  const ids = [...new Set(found.flatMap((all) => all.map(({ id }) => id)))];
  const rows = ids
    .map((id) => ({ id, all: found.flatMap((one) => one.filter((activation) => activation.id === id)) }))
    .filter(({ id, all }) => all.length === found.length || id === OURS)
    .map(({ id, all }) => {
      const both = all.map(({ load, call }) => load + call);
      const ready = all.map(({ load, call, finish }) => load + call + finish);
      const part = (name: 'load' | 'call') =>
        spread(
          all.map((one) => one[name]),
          0,
        );
      const cells = [id, part('load'), part('call'), spread(both, 0), spread(ready, 0), all.length];
      return { order: id === OURS ? Number.POSITIVE_INFINITY : median(both), cells };
    });
  if (!ids.includes(OURS)) rows.push({ order: Number.POSITIVE_INFINITY, cells: [OURS, '–', '–', '–', '–', 0] });
  return rows.sort((a, b) => b.order - a.order).map(({ cells }) => cells);
}
