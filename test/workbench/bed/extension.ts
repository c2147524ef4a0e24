/** The packaged extension, installed once for all tests: each profile gets a copy of the folder. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../trainer-daemon/bundles.ts';

/** What `npm run package` makes here. */
export const VSIX = join(packageRoot(), `agentic-robo-rl-${process.platform}-${process.arch}.vsix`);

/**
 * Has VS Code install the VSIX into a new profile.
 * @param vscode folder of the installation that install.ts makes.
 * @returns the folder of the profile, to be removed.
 * @throws Error when the VSIX is missing or cannot be installed.
 */
export function installExtension(vscode: string): string {
  if (!existsSync(VSIX)) throw new Error(`${VSIX} is missing: run "npm run package" first`);
  const profile = mkdtempSync(join(tmpdir(), 'arrl-extension-'));
  mkdirSync(join(profile, 'home'));
  const { node, program } = codeServer(vscode, profile);
  const { status, stdout, stderr } = spawnSync(node, [...program, '--install-extension', VSIX, '--force'], {
    env: freshEnvironment(join(profile, 'home')),
    encoding: 'utf8',
  });
  if (status === 0 && stdout.includes('successfully installed')) return profile;
  rmSync(profile, { recursive: true, force: true });
  throw new Error(`the extension could not be installed: ${stdout}${stderr}`);
}

/** How code-server is started with a profile: `home`, `data` and `extensions` in a folder. */
export function codeServer(vscode: string, profile: string): { node: string; program: string[] } {
  const config = join(profile, 'home/code-server.yaml');
  writeFileSync(config, 'auth: none\n');
  return {
    node: join(vscode, 'bin', 'node'),
    program: [
      join(vscode, 'node_modules/code-server/out/node/entry.js'),
      ...['--config', config],
      ...['--user-data-dir', join(profile, 'data'), '--extensions-dir', join(profile, 'extensions')],
    ],
  };
}

/** This process's environment without a trace of an editor, a desktop or a test runner. */
export function freshEnvironment(home: string): NodeJS.ProcessEnv {
  const foreign = /^(?:VSCODE_.*|XDG_.*|ELECTRON_.*|VITEST.*|npm_.*|NODE_OPTIONS|NODE_ENV|PORT|PASSWORD)$/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), HOME: home, EXTENSIONS_GALLERY: '{}' };
}
