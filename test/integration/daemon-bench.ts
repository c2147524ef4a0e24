/** Real daemons in workspaces of their own, for tests; nothing of them outlives the test. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { DaemonClient, type DaemonState } from '../../extension/daemon/client.ts';
import type { FollowedRun, RunNews } from '../../extension/daemon/followed-run.ts';
import { lives } from '../../extension/daemon/record.ts';
import type { WrittenConfig } from '../../protocol/config.ts';
import { type DaemonRecord, daemonPlaces } from '../../protocol/daemon.ts';
import type { JournalEvent } from '../../protocol/journal.ts';
import { bundlePath } from '../../trainer-daemon/bundles.ts';

export interface Bench {
  /** Workspace folder, with a space and letters beyond ASCII in its path. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  places: ReturnType<typeof daemonPlaces>;
  /** What the clients had to say. */
  said: string[];
  writeConfig(name: string, config: WrittenConfig): string;
  client(more?: { args?: string[]; silenceSeconds?: number; version?: string }): DaemonClient;
  record(): DaemonRecord;
  log(): string;
}

/**
 * An empty workspace and a state folder, both gone with the test, and the daemon with them.
 * @param cleanUp takes what is done at the end; `afterAll` where a workspace serves several tests.
 */
export function bench(cleanUp: (work: () => Promise<void>) => void = onTestFinished): Bench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'arrl daemon ü-')));
  const folder = realpathSync(mkdtempSync(join(root, 'wörk space-')));
  const environment = { ...process.env, npm_command: '', AGENTIC_ROBO_RL_STATE: join(root, 'state') };
  const places = daemonPlaces(folder, { platform: process.platform, home: root, environment });
  const clients: DaemonClient[] = [];
  const said: string[] = [];
  const record = () => JSON.parse(readFileSync(places.record, 'utf8')) as DaemonRecord;
  cleanUp(async () => {
    for (const client of clients) client.dispose();
    if (existsSync(places.record)) {
      const { pid } = record();
      kill(pid, 'SIGTERM');
      await vi.waitFor(() => expect(lives(pid)).toBe(false), { timeout: 90_000 });
    }
    rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  return {
    folder,
    environment,
    places,
    said,
    writeConfig(name, config) {
      const path = join(folder, name);
      writeFileSync(path, JSON.stringify(config));
      return path;
    },
    client({ args = [], silenceSeconds, version = '0.1.0' } = {}) {
      const client = new DaemonClient({
        workspace: folder,
        version,
        silenceSeconds,
        program: { script: bundlePath('daemon'), args, environment },
        log: (text) => said.push(text),
      });
      clients.push(client);
      return client;
    },
    record,
    log: () => readFileSync(join(dirname(places.record), 'daemon.log'), 'utf8'),
  };
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

/** Resolves with the first news that is wanted; those so far are not seen. */
export function news(followed: FollowedRun, wanted: (news: RunNews) => boolean): Promise<RunNews> {
  return new Promise((resolve) => {
    const listening = followed.onNews((one) => {
      if (!wanted(one)) return;
      listening.dispose();
      resolve(one);
    });
  });
}

/** Whether it is a journal entry of this kind. */
export const entry =
  <T extends JournalEvent['type']>(
    type: T,
    also: (event: Extract<JournalEvent, { type: T }>) => boolean = () => true,
  ) =>
  (one: RunNews): boolean =>
    one.kind === 'journal' &&
    one.line.event.type === type &&
    also(one.line.event as Extract<JournalEvent, { type: T }>);

/** Resolves when the client is in a state. */
export function state(client: DaemonClient, wanted: DaemonState): Promise<void> {
  return new Promise((resolve) => {
    if (client.status.state === wanted) return resolve();
    const listening = client.onStatus((status) => {
      if (status.state !== wanted) return;
      listening.dispose();
      resolve();
    });
  });
}
