/** How the command line ends. */

/** Exit codes, the same for every command. */
export const EXIT = {
  done: 0,
  /** `validate` found errors, or a run failed. */
  failed: 1,
  /** The command or its config is wrong; nothing was started. */
  usage: 2,
  /** Stopped on request; `train --resume` goes on. */
  interrupted: 130,
} as const;

/** Ends the command with a sentence and an exit code. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}
