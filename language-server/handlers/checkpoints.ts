/** What is wrong with checkpoint folders that configs name: looked at by a program of its own, and remembered. */
import { type ChildProcess, execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import type { CheckpointRemark } from '../service/config-references.ts';

/** The files a checkpoint consists of; when one changes, the folder is looked at again. */
const FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.jinja',
  'model.safetensors',
  'model.safetensors.index.json',
];
/** Longest look, milliseconds: a tokenizer of 150,000 tokens takes one or two seconds. */
const PATIENCE = 30_000;

const told = z.array(
  z.object({
    severity: z.enum(['error', 'warning']),
    file: z.string(),
    message: z.string(),
    line: z.number().optional(),
  }),
);

interface Look {
  /** Sizes and times of the files that were looked at. */
  state: string;
  running: boolean;
  /** Absent while the look lasts, and where it failed. */
  problems?: z.infer<typeof told>;
}

export class CheckpointLooks {
  readonly #program: string;
  readonly #changed: () => void;
  readonly #failed: (reason: string) => void;
  readonly #looks = new Map<string, Look>();
  readonly #running = new Set<ChildProcess>();

  /**
   * @param program the built `checkpoint-inspection.mjs`.
   * @param changed called when a look has ended: findings are to be made again.
   * @param failed told why a look gave nothing.
   */
  constructor(program: string, changed: () => void, failed: (reason: string) => void) {
    this.#program = program;
    this.#changed = changed;
    this.#failed = failed;
    process.once('exit', () => this.close());
  }

  /**
   * What is known to be wrong with a folder as its files are now; undefined until they have been looked at.
   * @param base the folder that file names are shown relative to.
   */
  of(folder: string, base: string): CheckpointRemark[] | undefined {
    const state = stateOf(folder);
    const look = this.#looks.get(folder);
    // While a checkpoint is being written, one look follows another instead of many running at once.
    if (look?.state !== state && !look?.running) this.#start(folder, state);
    return look?.state !== state
      ? undefined
      : look.problems?.map((problem) => ({ ...problem, file: relative(base, problem.file) || problem.file }));
  }

  #start(folder: string, state: string): void {
    const look: Look = { state, running: true };
    this.#looks.set(folder, look);
    const options = { timeout: PATIENCE, maxBuffer: 4 * 1024 * 1024 };
    const child = execFile(process.execPath, [this.#program, folder], options, (error, output) => {
      this.#running.delete(child);
      look.running = false;
      const outdated = stateOf(folder) !== state;
      try {
        if (error) throw error;
        look.problems = told.parse(JSON.parse(output));
      } catch (reason) {
        this.#failed(`the checkpoint ${folder} could not be looked at: ${(reason as Error).message}`);
        if (!outdated) return;
      }
      // Findings are asked for again, and with them what changed meanwhile is looked at.
      this.#changed();
    });
    this.#running.add(child);
  }

  /** Ends looks that still last. */
  close(): void {
    for (const child of this.#running) child.kill();
  }
}

/** Sizes and times of a checkpoint's files. */
function stateOf(folder: string): string {
  return FILES.map((name) => stateOfFile(join(folder, name))).join();
}

function stateOfFile(file: string): string {
  try {
    const { size, mtimeMs } = statSync(file);
    return `${size}@${mtimeMs}`;
  } catch {
    return '-';
  }
}
