/** An adapter's fault, told to the person who wrote it: which file, which of its functions, what. */
export class AdapterError extends Error {
  readonly file: string;

  /** @param where for example `outcome()`; empty for the file as a whole. */
  constructor(file: string, where: string, problem: string) {
    super(`adapter ${file}${where === '' ? '' : `, ${where}`}: ${problem}`);
    this.file = file;
  }
}
