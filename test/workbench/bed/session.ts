/** A server, a workspace folder and a window for one test, with a screenshot of what went wrong. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DaemonRecord, daemonPlaces } from '../../../protocol/daemon-record.ts';
import { vscode } from './server.ts';
import { type ServerOptions, VsCodeServer } from './vscode-server.ts';
import { Workbench } from './workbench.ts';

export interface Session {
  server: VsCodeServer;
  window: Workbench;
  /** Of the workspace. */
  folder: string;
  /** The record of the daemon of the workspace, or of another folder of it; undefined where none has run. */
  daemon(folder?: string): DaemonRecord | undefined;
  /** Opens one more window on the same folder; it closes with the test. */
  another(): Promise<Workbench>;
}

/** What a workspace of a person may well be called. */
const FOLDER = 'Größe – été/ロボット arm';

/**
 * Starts a VS Code with a fresh profile on a folder that holds these files. All of it goes with the test.
 * @param files path in the folder -> text. `prepare` may add what is no text; `place` gives the
 *   `.code-workspace` file that is opened in place of the folder, `name` another name for the folder than one that is hard.
 */
export async function session(
  files: Record<string, string>,
  options: ServerOptions & {
    prepare?: (folder: string) => void;
    place?: (folder: string) => string;
    name?: string;
  } = {},
): Promise<Session> {
  if (vscode === null) throw new Error('there is no VS Code');
  const server = await VsCodeServer.start(vscode, options);
  onTestFinished(() => server.stop());
  const folder = join(server.folder, 'work', options.name ?? FOLDER);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  options.prepare?.(folder);
  const place = options.place?.(folder) ?? folder;
  const asked = new Set([folder]);
  const daemon = (at = folder) => {
    asked.add(at);
    return daemonRecord(server, at);
  };
  onTestFinished(() => {
    // It would go by itself a minute later.
    for (const at of asked) {
      const { pid } = daemon(at) ?? {};
      if (pid !== undefined) end(pid);
    }
  });
  const window = await Workbench.open(server.url, place);
  // Hooks run in reverse: the window closes before its server ends.
  onTestFinished(async ({ task }) => {
    const name = task.name.replaceAll(/[^\w ]/g, '').slice(0, 60);
    if (task.result?.state === 'fail') await window.screenshot(`failed ${name}`).catch(() => {});
    await window.close();
  });
  const another = async () => {
    const other = await Workbench.open(server.url, place);
    onTestFinished(() => other.close());
    return other;
  };
  return { server, window, folder, daemon, another };
}

function daemonRecord(server: VsCodeServer, folder: string): DaemonRecord | undefined {
  const home = join(server.folder, 'home');
  const { record } = daemonPlaces(realpathSync(folder), { platform: process.platform, home, environment: {} });
  try {
    return JSON.parse(readFileSync(record, 'utf8')) as DaemonRecord;
  } catch {
    return undefined;
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has gone.
  }
}
