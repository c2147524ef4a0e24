/** One line about each run of a workspace, and word of what changed, whoever writes to the runs. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunSummary } from '../../protocol/daemon.ts';
import type { JournalEvent, Stage } from '../../protocol/journal.ts';
import type { RunState } from '../../protocol/run-state.ts';
import { isDamaged, openRecording, RecordingError } from '../../recordings/index.ts';
import { readStopRequest, runWriter } from '../store/index.ts';
import { journalDamage } from './journal-damage.ts';
import type { Workspace } from './workspace.ts';

/** What this daemon itself knows of a run that it is writing. */
export interface ActiveRun {
  directory: string;
  stopping: RunSummary['stopping'];
  progress: RunSummary['progress'];
}

/** What is told of a run by its files alone. */
interface Told {
  name: string;
  createdAt: string | null;
  phase: RunState['phase'] | 'damaged' | 'newer';
  stage: Stage | null;
  seq: number;
  problem: string | null;
  unread: string | null;
}

/** The first entries of a journal, when it was this file of this size. */
interface Sound {
  entries: number;
  ino: number;
  size: number;
}

const END: Partial<Record<JournalEvent['type'], RunState['phase']>> = {
  'run-stopped': 'stopped',
  'run-failed': 'failed',
  'run-finished': 'finished',
};
/** Journal entries read at a time, from the end. */
const BLOCK = 64;

/** Looks at runs; of those whose journal has not changed since, it remembers what it found. */
export class RunSummaries {
  private readonly workspace: Workspace;
  private readonly active: () => ActiveRun | undefined;
  private readonly known = new Map<string, { stamp: string; told: Told }>();
  /** How far a journal is known to be sound, by directory. */
  private readonly sound = new Map<string, Sound>();
  private looking: Promise<void> = Promise.resolve();

  /** @param active the run that this daemon writes. */
  constructor(workspace: Workspace, active: () => ActiveRun | undefined) {
    this.workspace = workspace;
    this.active = active;
  }

  /** All runs, newest first. @param elsewhere directories outside of runs/. */
  async list(elsewhere: Iterable<string>): Promise<RunSummary[]> {
    const summaries: RunSummary[] = [];
    for (const directory of new Set([...this.workspace.runDirectories(), ...elsewhere]))
      summaries.push(await this.summary(directory));
    for (const directory of this.known.keys())
      if (!summaries.some((one) => one.directory === directory)) this.forget(directory);
    return summaries.sort((a, b) => (b.createdAt ?? '').localeCompare(a.createdAt ?? '') || (a.run < b.run ? 1 : -1));
  }

  /** Never throws for what is wrong with the folder. */
  async summary(directory: string): Promise<RunSummary> {
    const told = await this.told(directory);
    const active = this.active();
    const ours = active?.directory === directory ? active : undefined;
    const writer = ours ? 'daemon' : (await runWriter(directory)) === undefined ? null : 'other';
    return {
      run: this.workspace.runName(directory),
      directory,
      name: told.name,
      createdAt: told.createdAt,
      state: stateOf(told.phase, writer !== null),
      writer,
      stopping: ours?.stopping ?? (writer === null ? 'none' : ((await readStopRequest(directory))?.mode ?? 'none')),
      stage: told.stage,
      seq: told.seq,
      progress: ours?.progress ?? null,
      problem: told.problem,
      unread: told.unread,
    };
  }

  private async told(directory: string): Promise<Told> {
    const stamp = `${await stampOf(join(directory, 'run.json'))} ${await stampOf(join(directory, 'journal.jsonl'))}`;
    const known = this.known.get(directory);
    if (known?.stamp === stamp) return known.told;
    const told = await readEnd(directory);
    // Until it has been looked through again.
    if (known?.told.createdAt === told.createdAt) told.unread ??= known.told.unread;
    this.known.set(directory, { stamp, told });
    // One journal at a time, and nobody waits for it: those of large runs take a moment, and there may be many.
    if (told.seq > 0) this.looking = this.looking.then(() => this.lookThrough(directory, told));
    return told;
  }

  private forget(directory: string): void {
    this.known.delete(directory);
    this.sound.delete(directory);
  }

  /** Looks for damage in what of a journal has not been looked at; the next word about the run has it. Never throws. */
  private async lookThrough(directory: string, told: Told): Promise<void> {
    // Asked for again since then.
    if (this.known.get(directory)?.told !== told) return;
    try {
      const { ino, size } = await stat(join(directory, 'journal.jsonl'));
      const before = this.sound.get(directory);
      // Who writes to a run appends to its journal; in any other way it may have been changed anywhere.
      const grown = before !== undefined && before.ino === ino && before.size < size;
      const sound: Sound = { entries: grown ? before.entries : 0, ino, size };
      this.sound.set(directory, sound);
      const recording = await openRecording(directory);
      try {
        const journal = await recording.journal();
        let damage: string | null = null;
        reading: while (sound.entries < journal.length) {
          for (const line of await journal.read(sound.entries, sound.entries + BLOCK)) {
            damage = journalDamage(line, sound.entries + 1);
            // Damaged without being damage: an unfinished last line.
            if (damage !== null || isDamaged(line)) break reading;
            sound.entries++;
          }
        }
        told.unread = damage;
      } finally {
        await recording.close();
      }
    } catch {
      // It was removed, or is being made; the next look sees it as it is then.
    }
  }
}

function stateOf(phase: Told['phase'], written: boolean): RunSummary['state'] {
  if (phase === 'damaged' || phase === 'newer') return phase;
  if (written) return 'running';
  return phase === 'open' || phase === 'empty' ? 'interrupted' : phase;
}

async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? '-' : `${found.ino}:${found.size}:${found.mtimeMs}`;
}

/** Reads run.json and the end of the journal, back to where the last stage began. */
async function readEnd(directory: string): Promise<Told> {
  try {
    const recording = await openRecording(directory);
    try {
      const { name, createdAt } = recording.info;
      const told: Told = { name, createdAt, phase: 'empty', stage: null, seq: 0, problem: null, unread: null };
      const journal = await recording.journal();
      for (let to = journal.length; to > 0 && told.stage === null; to -= BLOCK) {
        const lines = await journal.read(Math.max(0, to - BLOCK), to);
        for (const line of lines.reverse()) {
          if (isDamaged(line)) {
            if (!line.torn) told.unread = journalDamage(line, line.line);
            continue;
          }
          const { event } = line;
          if (told.seq === 0) {
            told.seq = line.seq;
            told.phase = END[event.type] ?? 'open';
            if (event.type === 'run-failed') told.problem = event.message;
          }
          if (event.type === 'stage-started') {
            told.stage = event.stage;
            break;
          }
        }
      }
      return told;
    } finally {
      await recording.close();
    }
  } catch (error) {
    const known = error instanceof RecordingError ? error : undefined;
    const problem = known?.reason ?? (error as Error).message;
    const phase = known?.newer ? 'newer' : 'damaged';
    return { name: '', createdAt: null, phase, stage: null, seq: 0, problem, unread: null };
  }
}
