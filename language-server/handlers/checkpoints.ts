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
    const state = FILES.map((name) => stateOf(join(folder, name))).join();
    let look = this.#looks.get(folder);
    if (look?.state !== state) {
      look = { state };
      this.#looks.set(folder, look);
      this.#start(folder, look);
    }
    return look.problems?.map((problem) => ({ ...problem, file: relative(base, problem.file) || problem.file }));
  }

  #start(folder: string, look: Look): void {
    const options = { timeout: PATIENCE, maxBuffer: 4 * 1024 * 1024 };
    const child = execFile(process.execPath, [this.#program, folder], options, (error, output) => {
      this.#running.delete(child);
      try {
        if (error) throw error;
        look.problems = told.parse(JSON.parse(output));
      } catch (reason) {
        this.#failed(`the checkpoint ${folder} could not be looked at: ${(reason as Error).message}`);
        return;
      }
      // What changed meanwhile is looked at when findings are asked for.
      this.#changed();
    });
    this.#running.add(child);
  }

  /** Ends looks that still last. */
  close(): void {
    for (const child of this.#running) child.kill();
  }
}

function stateOf(file: string): string {
  try {
    const { size, mtimeMs } = statSync(file);
    return `${size}@${mtimeMs}`;
  } catch {
    return '-';
  }
}
