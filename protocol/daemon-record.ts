/**
 * Where a daemon leaves word of itself, and what it says when it is up. One daemon serves one workspace folder.
 *
 * The record that counts lies in the user's own state folder. `<workspace>/.agentic-robo-rl/daemon.json` is its copy,
 * for people and scripts; a repository may ship a forged one, so a client believes no word of it that the record in
 * the state folder does not say as well.
 */
import { posix, win32 } from 'node:path';
import { z } from 'zod';
import { sha256 } from './random.ts';

/**
 * The record of a running daemon, in both places. A client believes it when the file in the state folder is a plain
 * file of this user with mode 0600, names the workspace asked for and this machine, its process lives, and the daemon
 * repeats `pid` and `startedAt` in its answer to `daemon.hello`. Later versions may add keys.
 */
export const daemonRecordSchema = z.looseObject({
  pid: z.number().int().positive(),
  port: z.number().int().min(1).max(65535),
  /** Sent as `Authorization: Bearer TOKEN` with the WebSocket upgrade. */
  token: z.string().min(32),
  startedAt: z.iso.datetime(),
  /** Real path of the workspace folder (links resolved). */
  workspace: z.string(),
  /** Newest protocol version it speaks. */
  protocol: z.number().int(),
  /** Version of the package. */
  version: z.string(),
  /** Name of the machine: a state folder may be shared by several. */
  host: z.string(),
});
export type DaemonRecord = z.output<typeof daemonRecordSchema>;

/** Largest record that is read. */
export const LARGEST_RECORD = 64 * 1024;

/**
 * The one line of JSON that a daemon prints on standard output, whatever becomes of it. It holds no token: that is in
 * the record, which is written before `ready` is said.
 */
export const daemonReadyLineSchema = z.discriminatedUnion('type', [
  /** It listens. */
  z.strictObject({
    type: z.literal('ready'),
    pid: z.number().int(),
    port: z.number().int(),
    startedAt: z.iso.datetime(),
    workspace: z.string(),
    protocol: z.number().int(),
    version: z.string(),
    /** Path of its log. */
    log: z.string(),
  }),
  /** Another one serves this workspace; this process ends with exit code 0. Read the record and attach to that one. */
  z.strictObject({ type: z.literal('already-running'), workspace: z.string(), holder: z.string() }),
  /** It cannot run here; the process ends with exit code 1. */
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
]);
export type DaemonReadyLine = z.output<typeof daemonReadyLineSchema>;

/** Files of one workspace's daemon; all absolute. */
export interface DaemonPlaces {
  /** Folder of this workspace in the user's state folder, mode 0700; also holds the daemon's lock. */
  state: string;
  /** The record that counts. */
  record: string;
  /** Its copy in the workspace. */
  copy: string;
  /** The log; older ones are `daemon.1.log` and so on. */
  log: string;
}

/**
 * Where the daemon of a workspace keeps its files.
 * @param workspace real path of the workspace folder.
 * @param system what tells the user's state folder: `AGENTIC_ROBO_RL_STATE` (an absolute path) goes before the custom of
 *   the platform.
 */
export function daemonPlaces(
  workspace: string,
  system: { platform: string; home: string; environment: Record<string, string | undefined> },
): DaemonPlaces {
  const path = system.platform === 'win32' ? win32 : posix;
  const state = path.join(stateFolder(system, path), 'workspaces', sha256(workspace).slice(0, 20));
  return {
    state,
    record: path.join(state, 'daemon.json'),
    copy: path.join(workspace, '.agentic-robo-rl', 'daemon.json'),
    log: path.join(state, 'daemon.log'),
  };
}

function stateFolder(
  { platform, home, environment }: Parameters<typeof daemonPlaces>[1],
  path: typeof posix | typeof win32,
): string {
  const absolute = (name: string) => {
    const value = environment[name];
    return value !== undefined && path.isAbsolute(value) ? value : undefined;
  };
  const own = absolute('AGENTIC_ROBO_RL_STATE');
  if (own !== undefined) return own;
  if (platform === 'win32')
    return path.join(absolute('LOCALAPPDATA') ?? path.join(home, 'AppData', 'Local'), 'agentic-robo-rl');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'agentic-robo-rl');
  return path.join(absolute('XDG_STATE_HOME') ?? path.join(home, '.local', 'state'), 'agentic-robo-rl');
}
