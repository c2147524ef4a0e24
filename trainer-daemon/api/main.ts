/**
 * The daemon's process: `daemon.mjs --workspace FOLDER [--idle-seconds N] [--heartbeat-seconds N] [--with-parent]`. It
 * prints one line of JSON (`daemonReadyLineSchema`) and then nothing more: who started it may be gone.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DAEMON_PROTOCOL, type DaemonReadyLine, type DaemonRecord } from '../../protocol/daemon.ts';
import { packageRoot } from '../bundles.ts';
import { Daemon, type Leaving } from './daemon.ts';
import { type Log, openLog } from './log.ts';
import { AlreadyRunning, lockWorkspace, placesOf, removeRecord, writeRecord } from './record-files.ts';
import { Workspace } from './workspace.ts';

const DEFAULT_IDLE_SECONDS = 60;
/** A run that does not end within this time after a signal is left to be resumed from its journal. */
const LONGEST_LEAVING_MS = 60_000;
const PARENT_LOOK_MS = 1000;

function say(line: DaemonReadyLine): void {
  try {
    // At once: the process may be about to end.
    writeSync(1, `${JSON.stringify(line)}\n`);
  } catch {
    // Who started it has gone.
  }
}

async function run(): Promise<number> {
  // Nobody may be there to read; that is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  let workspace: Workspace;
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
    workspace = new Workspace(options.workspace);
  } catch (error) {
    say({ type: 'failed', message: (error as Error).message });
    return 1;
  }
  const places = placesOf(workspace.folder);
  let release: () => Promise<void>;
  try {
    release = await lockWorkspace(places);
  } catch (error) {
    if (error instanceof AlreadyRunning) {
      say({ type: 'already-running', workspace: workspace.folder, holder: error.holder });
      return 0;
    }
    say({ type: 'failed', message: (error as Error).message });
    return 1;
  }
  const log = openLog(places.log);
  try {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
    const token = randomBytes(32).toString('hex');
    log.keepSecret(token);
    const startedAt = new Date().toISOString();
    const daemon = new Daemon({ ...options, workspace, log, token, version, startedAt, logPath: places.log });
    const port = await daemon.listen();
    const record: DaemonRecord = {
      pid: process.pid,
      port,
      token,
      startedAt,
      workspace: workspace.folder,
      protocol: DAEMON_PROTOCOL,
      version,
      host: hostname(),
    };
    const noCopy = writeRecord(places, record);
    log.write(`daemon ${version} of ${workspace.folder}, process ${process.pid}, port ${port}`);
    if (noCopy !== undefined) log.write(`no copy of the record in the workspace: ${noCopy}`);
    const { pid, workspace: folder } = record;
    say({
      type: 'ready',
      pid,
      port,
      startedAt,
      workspace: folder,
      protocol: DAEMON_PROTOCOL,
      version,
      log: places.log,
    });
    const ends = [daemon.leaving, signalled(log), ...(options.withParent ? [parentGone(log)] : [])];
    const reason = await Promise.race(ends);
    // Found by nobody from now on; a new daemon starts as soon as the lock is free.
    removeRecord(places, record);
    const impatient = setTimeout(() => {
      log.write('the run at work does not end; it can be resumed from its journal');
      process.exit(1);
    }, LONGEST_LEAVING_MS);
    impatient.unref();
    await daemon.leave(reason);
    return 0;
  } catch (error) {
    log.write(`failed: ${(error as Error).stack}`);
    say({ type: 'failed', message: (error as Error).message });
    return 1;
  } finally {
    await release();
    log.write('ended');
  }
}

function readOptions(): { workspace: string; idleSeconds: number; heartbeatSeconds?: number; withParent: boolean } {
  const { values } = parseArgs({
    options: {
      workspace: { type: 'string' },
      'idle-seconds': { type: 'string' },
      'heartbeat-seconds': { type: 'string' },
      /** Ends when the process that started it ends. */
      'with-parent': { type: 'boolean' },
    },
  });
  if (values.workspace === undefined) throw new Error('name the workspace folder: --workspace FOLDER');
  const seconds = (name: 'idle-seconds' | 'heartbeat-seconds') => {
    const text = values[name];
    if (text === undefined) return undefined;
    const number = Number(text);
    if (!(number > 0 && number <= 1e6)) throw new Error(`--${name} is a number of seconds above 0, not "${text}"`);
    return number;
  };
  return {
    workspace: values.workspace,
    idleSeconds: seconds('idle-seconds') ?? DEFAULT_IDLE_SECONDS,
    heartbeatSeconds: seconds('heartbeat-seconds'),
    withParent: values['with-parent'] === true,
  };
}

/** Resolves when another process has become this one's parent: the one that started it has ended. */
function parentGone(log: Log): Promise<Leaving> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      log.write('the process that started it has ended');
      resolve('signal');
    }, PARENT_LOOK_MS);
    timer.unref();
  });
}

/** Resolves at the first request to end; a second one ends the process at once. */
function signalled(log: Log): Promise<Leaving> {
  process.on('unhandledRejection', (error) =>
    log.write(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`),
  );
  return new Promise((resolve) => {
    // What state it left is unknown: the run at work is ended as at a signal, and can be resumed.
    process.on('uncaughtException', (error) => {
      log.write(`uncaught: ${error.stack}`);
      resolve('signal');
    });
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        log.write(signal);
        if (asked) process.exit(1);
        asked = true;
        resolve('signal');
      });
    // A closed terminal is no reason to end: runs go on without one.
    process.on('SIGHUP', () => log.write('SIGHUP'));
  });
}

process.exit(await run());
