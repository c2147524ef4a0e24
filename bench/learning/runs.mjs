// Runs of the command line, begun or gone on with until they are finished.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const CLI = join(import.meta.dirname, '../../dist/cli.mjs');

/** The `--json` document of a command that only reads. */
export function json(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args, '--json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

export function isFinished(directory) {
  return existsSync(join(directory, 'journal.jsonl')) && json('report', directory).state === 'finished';
}

/** Whether a run has finished these rounds. */
export function hasRounds(directory, rounds) {
  return rounds.every((round) => existsSync(join(directory, `rounds/${String(round).padStart(4, '0')}/steps.jsonl`)));
}

/** Trains until the run is finished; a run that is already there goes on. @throws Error when it fails. */
export async function finish(directory, config, stages) {
  if (isFinished(directory)) return;
  const begun = existsSync(join(directory, 'journal.jsonl'));
  const what = begun ? ['--resume', directory] : [config, '--run', directory];
  console.error(`\n== ${begun ? 'resuming' : 'beginning'} ${directory}`);
  const child = spawn(process.execPath, [CLI, 'train', ...what, ...(stages ? ['--stages', stages] : [])], {
    stdio: 'inherit',
  });
  // Ctrl-C reaches the child too; it ends resumable and tells how.
  process.on('SIGINT', () => {});
  const code = await new Promise((resolve) => child.on('close', resolve));
  process.removeAllListeners('SIGINT');
  if (code !== 0) process.exit(code ?? 1);
}
