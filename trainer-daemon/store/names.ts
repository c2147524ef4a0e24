/** Which names sections and files may have: none leads out of the run directory. */
import { StoreError } from './contract.ts';

const PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
/** Folders of the run directory that hold no records. */
const RESERVED = new Set(['blobs']);

/** Whether a name on disk is one that {@link checkSectionName} takes. */
export function isSectionName(name: string): boolean {
  const parts = name.split('/');
  return parts.length <= 2 && parts.every((part) => PART.test(part)) && !RESERVED.has(parts[0]);
}

/** Whether a name on disk is that of a file of JSON lines. */
export function isLinesFile(name: string): boolean {
  return PART.test(name) && name.endsWith('.jsonl');
}

/**
 * Checks the name of a section: one or two folder names, for example `teacher` or `rounds/0001`.
 * @throws StoreError
 */
export function checkSectionName(name: string): string[] {
  if (!isSectionName(name)) {
    throw new StoreError(
      `${JSON.stringify(name)} is no name of a section: one or two folder names of letters, digits, ".", "_" and "-", such as rounds/0001`,
    );
  }
  return name.split('/');
}

/**
 * Checks the name of a file in a section.
 * @throws StoreError
 */
export function checkFileName(name: string, extension: '.json' | '.jsonl'): string {
  if (!PART.test(name) || !name.endsWith(extension)) {
    throw new StoreError(
      `${JSON.stringify(name)} is no name of a record file: letters, digits, ".", "_" and "-", ending in ${extension}`,
    );
  }
  return name;
}
