/** A checkpoint folder that cannot be used: the message says which file, what is wrong and what to do. */
export class CheckpointError extends Error {
  /** The file or folder at fault. */
  readonly file: string;
  /** The message without the file's name. */
  readonly problem: string;
  /** Where in the file, from 1, when that is known. */
  readonly line: number | undefined;

  constructor(file: string, problem: string, line?: number) {
    super(`${file}${line === undefined ? '' : `:${line}`}: ${problem}`);
    this.name = 'CheckpointError';
    this.file = file;
    this.problem = problem;
    this.line = line;
  }
}
