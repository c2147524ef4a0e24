/**
 * A chat template is a program that came with a checkpoint. It is run first in a process of its own, with little memory
 * and time: one that never ends, or asks for more memory than there is, would take the caller with it.
 */
import { spawn } from 'node:child_process';
import { bundlePath } from '../bundles.ts';
import { endWithUs, OWN_GROUP } from '../own-group.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { COMPACT_TEMPLATE } from './compact-template.ts';
import type { TemplateSource } from './template-source.ts';

const MEGABYTES = 256;
const SECONDS = 20;

/** Templates that came to an end, by text. */
const harmless = new Set<string>([COMPACT_TEMPLATE]);

/**
 * What the template renders does not matter here, nor whether it refuses: only that it comes to an end.
 * @throws CheckpointError when it does not.
 */
export async function requireEnding({ text, file }: TemplateSource, seconds = SECONDS): Promise<void> {
  if (harmless.has(text)) return;
  const end = await run(text, seconds);
  if (end !== 0) {
    const what =
      end === 'time' ? `did not end within ${seconds} s` : `needs more than ${MEGABYTES} MB, or breaks its process`;
    throw new CheckpointError(
      file,
      `the chat template ${what} when it renders one user message; copy it from the checkpoint again`,
    );
  }
  harmless.add(text);
}

function run(text: string, seconds: number): Promise<number | 'time' | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${MEGABYTES}`, bundlePath('template-trial')], {
      stdio: ['pipe', 'ignore', 'ignore'],
      ...OWN_GROUP,
    });
    endWithUs(child);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, seconds * 1000);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(late ? 'time' : code);
    });
    // A child that ended before it had read everything says so by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
