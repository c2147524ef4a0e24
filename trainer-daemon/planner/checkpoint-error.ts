/** A checkpoint folder that cannot be used: the message says which file, what is wrong and what to do. */
export class CheckpointError extends Error {
  /** The file or folder at fault. */
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`${file}: ${problem}`);
    this.name = 'CheckpointError';
    this.file = file;
  }
}
