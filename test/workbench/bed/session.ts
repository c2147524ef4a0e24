/** A server, a workspace folder and a window for one test, with a screenshot of what went wrong. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DaemonRecord, daemonPlaces } from '../../../protocol/daemon-record.ts';
import { type ServerOptions, VsCodeServer } from './server.ts';
import { Workbench } from './workbench.ts';

export interface Session {
  server: VsCodeServer;
  window: Workbench;
  /** Of the workspace. */
  folder: string;
  /** The record of the workspace's daemon; undefined where none has run. */
  daemon(): DaemonRecord | undefined;
}

/** What a workspace of a person may well be called. */
const FOLDER = 'Größe – été/ロボット arm';

/**
 * Starts a VS Code with a fresh profile on a folder that holds these files. All of it goes with the test.
 * @param files path in the folder -> text. `prepare` may add what is no text.
 */
export async function session(
  files: Record<string, string>,
  options: ServerOptions & { prepare?: (folder: string) => void } = {},
): Promise<Session> {
  const server = await VsCodeServer.start(options);
  onTestFinished(() => server.stop());
  const folder = join(server.folder, 'work', FOLDER);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  options.prepare?.(folder);
  const daemon = () => daemonRecord(server, folder);
  onTestFinished(() => {
    // It would go by itself a minute later.
    const { pid } = daemon() ?? {};
    if (pid !== undefined) end(pid);
  });
  const window = await Workbench.open(server.url, folder);
  // Hooks run in reverse: the window closes before its server ends.
  onTestFinished(async ({ task }) => {
    const name = task.name.replaceAll(/[^\w ]/g, '').slice(0, 60);
    if (task.result?.state === 'fail') await window.screenshot(`failed ${name}`).catch(() => {});
    await window.close();
  });
  return { server, window, folder, daemon };
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
