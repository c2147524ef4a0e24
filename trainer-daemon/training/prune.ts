/** What of a run can be removed: files that nothing needs any more. Records never are among them. */
import { existsSync } from 'node:fs';
import { lstat, readdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { policySection } from '../../protocol/ids.ts';
import type { JournalLine } from '../../protocol/journal.ts';
import { openRecording } from '../../recordings/index.ts';
import { chooseCheckpoint } from '../evaluation/choose.ts';
import { isTemporary, lockRun } from '../store/index.ts';
import { TrainingError } from './contract.ts';
import { comparedPolicies, eventsOf, policiesOf, readJournal } from './history.ts';

export type PruneKind = 'leftover' | 'optimizer' | 'checkpoint' | 'policy' | 'output';

export interface PruneItem {
  /** Relative to the run, with `/`. */
  path: string;
  kind: PruneKind;
  /** Why nothing needs it. */
  reason: string;
  bytes: number;
}

export interface PruneOptions {
  /** Also the weights of policies that are neither compared, nor the best, nor the newest. Cannot be made again. */
  policies?: boolean;
  /** Also the harness's output folders. Cannot be made again. */
  outputs?: boolean;
  /** Only say what would be removed. */
  dryRun?: boolean;
}

export interface PruneResult {
  directory: string;
  items: PruneItem[];
  /** Bytes of the items. */
  bytes: number;
  /** What would have been an item and was left, with the reason. */
  left: { path: string; reason: string }[];
}

/**
 * Removes from a run what its further life does not need. The run stays resumable, evaluable and reportable.
 * @throws StoreError while another process writes to the run; RecordingError when there is none; TrainingError when
 *   its journal is damaged.
 */
export async function pruneRun(directory: string, options: PruneOptions = {}): Promise<PruneResult> {
  const root = await realpath(resolve(directory)).catch(() => resolve(directory));
  // Opened first: a folder that is no run gets no lock.
  const recording = await openRecording(root);
  const release = options.dryRun ? async () => {} : await lockRun(root).catch(closing(recording));
  try {
    const journal = await readJournal(recording);
    if ('damaged' in journal)
      throw new TrainingError(
        `${join(root, 'journal.jsonl')}: line ${journal.line} is damaged (${journal.damaged}); what the run needs cannot be told, so nothing is removed`,
      );
    const result: PruneResult = { directory: root, items: [], bytes: 0, left: [] };
    for (const candidate of await candidates(root, journal.lines, options)) {
      const problem = await linkIn(root, candidate.path);
      if (problem !== undefined) {
        result.left.push({ path: candidate.path, reason: problem });
        continue;
      }
      const item = { ...candidate, bytes: await sizeOf(join(root, candidate.path), keptFile(candidate.kind)) };
      if (candidate.kind === 'policy' && item.bytes === 0) continue;
      try {
        if (!options.dryRun) await remove(root, item);
        result.items.push(item);
        result.bytes += item.bytes;
      } catch (error) {
        result.left.push({ path: item.path, reason: (error as Error).message });
      }
    }
    return result;
  } finally {
    await recording.close();
    await release();
  }
}

function closing(recording: { close(): Promise<void> }): (error: unknown) => Promise<never> {
  return async (error) => {
    await recording.close();
    throw error;
  };
}

type Candidate = Omit<PruneItem, 'bytes'>;

async function candidates(root: string, lines: JournalLine[], options: PruneOptions): Promise<Candidate[]> {
  return [
    ...(await leftovers(root)),
    ...(await fineTuning(root, lines)),
    ...(await policies(root, lines, options.policies === true)),
    ...(options.outputs ? await outputs(root) : []),
  ];
}

/** What a kill left of folders and files that were being written. */
async function leftovers(root: string): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const folder of ['.', 'policies', 'sft', 'sft/checkpoints', 'teacher', ...(await sections(root))])
    for (const name of await namesIn(root, folder))
      if (/^(v\d{4,9}|\d{2,9})\.partial$/.test(name) || (isTemporary(name) && !name.startsWith('run.lock')))
        found.push({
          path: folder === '.' ? name : `${folder}/${name}`,
          kind: 'leftover',
          reason: 'was never finished',
        });
  return found;
}

async function fineTuning(root: string, lines: JournalLine[]): Promise<Candidate[]> {
  const folder = 'sft/checkpoints';
  const numbers = (await namesIn(root, folder)).filter((name) => /^\d{2,9}$/.test(name));
  const chosen = eventsOf(lines, 'checkpoint-chosen').findLast((event) => event.stage === 'sft')?.number;
  const became = policiesOf(lines).find((policy) => policy.stage === 'sft');
  // While the choice is open every checkpoint may become the policy, and the last one's moments go on.
  if (became && isWhole(root, policySection(became.version)))
    return numbers.map((name) => ({
      path: `${folder}/${name}`,
      kind: 'checkpoint',
      reason: Number(name) === chosen ? `is policy v${became.version}` : 'was not chosen',
    }));
  const last = Math.max(0, ...eventsOf(lines, 'checkpoint').map((event) => (event.stage === 'sft' ? event.number : 0)));
  return numbers
    .filter((name) => Number(name) < last && existsSync(join(root, folder, name, 'optimizer')))
    .map((name) => ({ path: `${folder}/${name}/optimizer`, kind: 'optimizer', reason: `checkpoint ${last} goes on` }));
}

async function policies(root: string, lines: JournalLine[], weights: boolean): Promise<Candidate[]> {
  const known = policiesOf(lines);
  const newest = Math.max(0, ...known.map(({ version }) => version));
  const rated = known.flatMap(({ version, step, stage, validation }) =>
    stage === 'rl' && validation ? [{ number: version, step, ...validation }] : [],
  );
  const best = rated.some(({ episodes }) => episodes > 0) ? chooseCheckpoint(rated).number : newest;
  const needed = new Set([0, 1, newest, best, ...comparedPolicies(lines, known).map(({ version }) => version)]);
  const found: Candidate[] = [];
  for (const { version } of known) {
    const path = policySection(version);
    if (weights && !needed.has(version) && isWhole(root, policySection(newest)))
      found.push({ path, kind: 'policy', reason: 'neither compared, best nor newest' });
    else if (version < newest && existsSync(join(root, path, 'optimizer')))
      found.push({ path: `${path}/optimizer`, kind: 'optimizer', reason: `policy v${newest} goes on` });
  }
  return found;
}

async function outputs(root: string): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const section of ['teacher', ...(await sections(root))])
    if ((await namesIn(root, section)).includes('output'))
      found.push({ path: `${section}/output`, kind: 'output', reason: "the harness's own files, as asked" });
  return found;
}

async function sections(root: string): Promise<string[]> {
  const inside = async (parent: string) => (await namesIn(root, parent)).map((name) => `${parent}/${name}`);
  return [...(await inside('rounds')), ...(await inside('evaluations'))];
}

async function namesIn(root: string, folder: string): Promise<string[]> {
  return (await readdir(join(root, folder)).catch(() => [])).sort();
}

function isWhole(root: string, policy: string): boolean {
  return existsSync(join(root, policy, 'config.json'));
}

/** Why a path is not touched: a link on the way to it, which may lead out of the run. */
async function linkIn(root: string, path: string): Promise<string | undefined> {
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    if ((await lstat(at)).isSymbolicLink()) return `${part} is a symbolic link, which is not followed`;
  }
  return undefined;
}

/** policy.json tells what the policy was: it is a record and stays. */
function keptFile(kind: PruneKind): string | undefined {
  return kind === 'policy' ? 'policy.json' : undefined;
}

/** Bytes of a file or of everything in a folder; links count as themselves. */
async function sizeOf(path: string, kept?: string): Promise<number> {
  const found = await lstat(path);
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await readdir(path)) if (name !== kept) bytes += await sizeOf(join(path, name));
  return bytes;
}

async function remove(root: string, { path, kind }: PruneItem): Promise<void> {
  const kept = keptFile(kind);
  const full = join(root, path);
  if (kept === undefined) {
    await rm(full, { recursive: true, force: true });
    return;
  }
  // What tells that a checkpoint is whole goes first.
  const names = (await readdir(full)).filter((name) => name !== kept);
  for (const name of names.sort((a, b) => Number(b === 'config.json') - Number(a === 'config.json')))
    await rm(join(full, name), { recursive: true, force: true });
}
