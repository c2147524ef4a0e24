/** One VS Code server with a fresh profile and the packaged extension. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeServer, freshEnvironment } from './extension.ts';
import type { InstalledVsCode } from './server.ts';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.tips.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.enabled': false,
};

export interface ServerOptions {
  /** The user's settings besides those that keep a profile quiet. */
  settings?: Record<string, unknown>;
}

export class VsCodeServer {
  readonly url: string;
  /** Fresh folder of this profile: `home`, `data`, `extensions` and, for the test's own use, `work`. */
  readonly folder: string;
  private readonly child: ChildProcess;

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url;
    this.folder = folder;
    this.child = child;
  }

  /** @throws Error when the server does not come up. */
  static async start(vscode: InstalledVsCode, options: ServerOptions = {}): Promise<VsCodeServer> {
    const folder = mkdtempSync(join(tmpdir(), 'arrl-vscode-'));
    for (const name of ['home', 'data/User', 'work', 'tmp']) mkdirSync(join(folder, name), { recursive: true });
    cpSync(join(vscode.profile, 'extensions'), join(folder, 'extensions'), { recursive: true });
    const settings = { ...SETTINGS, ...options.settings };
    writeFileSync(join(folder, 'data/User/settings.json'), JSON.stringify(settings, null, 2));
    // VS Code leaves sockets where temporary files go.
    const environment = { ...freshEnvironment(join(folder, 'home')), TMPDIR: join(folder, 'tmp') };
    const { node, program } = codeServer(vscode.folder, folder);

    const logFile = join(folder, 'server.log');
    const log = openSync(logFile, 'w');
    const flags = [
      ...['--auth', 'none', '--bind-addr', '127.0.0.1:0', '--disable-telemetry', '--disable-update-check'],
      ...['--disable-getting-started-override', '--disable-proxy', '--reconnection-grace-time', '5'],
      '--ignore-last-opened',
    ];
    // A group of its own, to be ended whole: extension hosts outlive the server by seconds.
    const child = spawn(node, [...program, ...flags], {
      env: environment,
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    for (let waited = 0; waited < 600; waited++) {
      const url = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(readFileSync(logFile, 'utf8'))?.[1];
      if (url) return new VsCodeServer(url, folder, child);
      if (child.exitCode !== null) break;
      await pause(100);
    }
    const said = readFileSync(logFile, 'utf8');
    endGroup(child);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    throw new Error(`the server did not come up: ${said.slice(-2000)}`);
  }

  /** Ends the server and all it started in its group, and removes the profile. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const gone = new Promise((done) => this.child.once('exit', done));
      this.child.kill('SIGTERM');
      await Promise.race([gone, pause(10_000)]);
    }
    endGroup(this.child);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 200 });
  }
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All of it is gone already.
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
