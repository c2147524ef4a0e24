/** The daemon's log: a plain file of lines that is turned over when it is large, without secrets. */
import { appendFileSync, chmodSync, renameSync, statSync } from 'node:fs';

const LARGEST = 2 * 1024 * 1024;
const KEPT = 3;
const LONGEST_LINE = 8 * 1024;

export interface Log {
  /** One line; breaks in it are folded. */
  write(text: string): void;
  /** A text that must never stand in the log, such as the token. */
  keepSecret(secret: string): void;
}

/**
 * Opens a log file. It is written at once, line by line, so that the last words of a crash are in it; a disk that takes
 * no more loses lines of the log and nothing else.
 * @param path of the newest file; older ones are `NAME.1.log` to `NAME.3.log`.
 */
export function openLog(path: string, largest = LARGEST): Log {
  const secrets: string[] = [];
  let size = sizeOf(path);
  const older = (n: number) => path.replace(/\.log$/, `.${n}.log`);
  const turnOver = () => {
    for (let n = KEPT - 1; n >= 1; n--) quietly(() => renameSync(older(n), older(n + 1)));
    quietly(() => renameSync(path, older(1)));
    size = 0;
  };
  return {
    write(text) {
      let told = text;
      for (const secret of secrets) told = told.replaceAll(secret, '[secret]');
      if (told.length > LONGEST_LINE) told = `${told.slice(0, LONGEST_LINE)}... (${told.length} characters)`;
      const line = `${new Date().toISOString()} ${told.replaceAll(/\s*\n\s*/g, ' | ')}\n`;
      if (size > 0 && size + line.length > largest) turnOver();
      quietly(() => {
        appendFileSync(path, line, { mode: 0o600 });
        if (size === 0) chmodSync(path, 0o600);
        size += Buffer.byteLength(line);
      });
    },
    keepSecret(secret) {
      if (secret !== '') secrets.push(secret);
    },
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Nowhere is left to say so.
  }
}
