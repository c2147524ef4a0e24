/** Reads a training config from disk, with everything that can be wrong with it as findings. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { referenceFindings, type Surroundings } from '../language-server/service/config-references.ts';
import type { TrainingConfig } from '../protocol/config.ts';
import type { HarnessListing } from '../protocol/config-harness.ts';
import { LARGEST_CONFIG } from '../protocol/config-syntax.ts';
import { type ConfigReading, readConfigText } from '../protocol/config-text.ts';
import type { Finding } from '../protocol/finding.ts';
import { packageRoot } from '../trainer-daemon/bundles.ts';

export interface ConfigFile {
  /** As named on the command line. */
  file: string;
  /** Absolute folder that relative paths in the config start from. */
  folder: string;
  /** Present when there are no errors. */
  config?: TrainingConfig;
  findings: Finding[];
  /** False when there was no text to look at: no such file, a folder, no permission. */
  readable: boolean;
  /** Where a key's value was written. */
  locate: ConfigReading['locate'];
}

const START = { line: 1, column: 1, endLine: 1, endColumn: 1 };

export function readConfigFile(file: string): ConfigFile {
  const folder = dirname(resolve(file));
  const read = readTextFile(file);
  if ('problem' in read) return { file, folder, readable: false, findings: [read.problem], locate: () => START };
  const reading = readConfigText(read.text, file);
  const findings = [...reading.findings, ...referenceFindings(reading, surroundings(folder), file)];
  const sound = !findings.some((finding) => finding.severity === 'error');
  const { locate } = reading;
  return { file, folder, readable: true, config: sound ? reading.config : undefined, findings, locate };
}

/** The text of a file a person wrote, or why there is none, as a finding. */
export function readTextFile(file: string): { text: string } | { problem: Finding } {
  const unreadable = (code: string, message: string): { problem: Finding } => ({
    problem: { code, severity: 'error', message, file, ...START },
  });
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return unreadable('file-is-folder', 'this is a folder; name a file in it');
    if (!stats.isFile()) return unreadable('file-unreadable', 'this is not a regular file');
    if (stats.size > 4 * LARGEST_CONFIG + 4)
      return unreadable(
        'config-too-large',
        `the file has ${stats.size.toLocaleString('en')} bytes; a training config is text of at most ${LARGEST_CONFIG.toLocaleString('en')} characters`,
      );
    return { text: decode(readFileSync(file)) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return unreadable('file-missing', 'there is no such file');
    if (code === 'EACCES' || code === 'EPERM') return unreadable('file-unreadable', 'no permission to read this file');
    return unreadable('file-unreadable', `the file cannot be read: ${message}`);
  }
}

/** UTF-8, or UTF-16 where a byte-order mark says so (some Windows editors write it). */
function decode(content: Buffer): string {
  if (content[0] === 0xff && content[1] === 0xfe) return new TextDecoder('utf-16le').decode(content);
  if (content[0] === 0xfe && content[1] === 0xff) return new TextDecoder('utf-16be').decode(content);
  return content.toString('utf8');
}

function surroundings(folder: string): Surroundings {
  return {
    shippedAdapters: shippedAdapters(),
    listing: shippedListing,
    readText(path) {
      try {
        const file = resolve(folder, path);
        return statSync(file).size > LARGEST_CONFIG ? undefined : readFileSync(file, 'utf8');
      } catch {
        return undefined; // Whether it is there is asked by kind().
      }
    },
    kind(path) {
      try {
        return statSync(resolve(folder, path)).isDirectory() ? 'folder' : 'file';
      } catch {
        // Not there, out of reach, a loop of links, or no possible path at all.
        return undefined;
      }
    },
  };
}

/** What a shipped adapter lists, as the build wrote it down; undefined for others. */
export function shippedListing(adapter: string): HarnessListing | undefined {
  try {
    const listings = JSON.parse(readFileSync(join(packageRoot(), 'dist', 'shipped-adapters.json'), 'utf8'));
    return Object.hasOwn(listings, adapter) ? listings[adapter] : undefined;
  } catch {
    return undefined; // Not built: the adapter itself is asked later.
  }
}

/** Names of the adapters in the built package. */
export function shippedAdapters(): string[] {
  const dist = join(packageRoot(), 'dist');
  if (!existsSync(dist)) return [];
  return readdirSync(dist)
    .filter((name) => name.endsWith('.adapter.mjs'))
    .map((name) => name.slice(0, -'.adapter.mjs'.length))
    .sort();
}
