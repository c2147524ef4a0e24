/** A run directory being read. Needs no lock and works while the run is written. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { policySection, roundSection } from '../protocol/ids.ts';
import { type JournalLine, journalLineSchema } from '../protocol/journal.ts';
import * as records from '../protocol/records.ts';
import { type Blob, BodyReader } from './bodies.ts';
import { type Damaged, isDamaged, readDocument } from './documents.ts';
import { originOf, RecordIndex, type RecordKind } from './record-index.ts';
import { type CallInPart, CallResolver } from './resolve.ts';

/** There is no run in a folder, or none that can be read. */
export class RecordingError extends Error {
  /** The message without the path of the run, for lists where that stands already. */
  readonly reason: string;
  /** The run is whole, but of a format that this version does not know yet. */
  readonly newer: boolean;

  constructor(message: string, more: { reason?: string; newer?: boolean } = {}) {
    super(message);
    this.reason = more.reason ?? message;
    this.newer = more.newer ?? false;
  }
}

/** Names of the sections that are on disk, to be given to `calls`, `episodes` and `steps`. */
export interface SectionNames {
  teacher: string[];
  sft: string[];
  /** By round. */
  rounds: string[];
  evaluations: string[];
}

const PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

const CALLS: RecordKind<records.CallRecord> = { schema: records.callSchema, id: 'id', episode: 'episode' };
const EPISODES: RecordKind<records.EpisodeRecord> = { schema: records.episodeSchema, id: 'id' };
const SAMPLES: RecordKind<records.SampleRecord> = { schema: records.sampleSchema, id: 'call', episode: 'episode' };
const SCORES: RecordKind<records.ScoreRecord> = { schema: records.scoreSchema, id: 'call' };
const STEPS: RecordKind<records.StepRecord> = { schema: records.stepSchema };
const TARGETS: RecordKind<records.TargetRecord> = { schema: records.targetSchema, id: 'call', episode: 'episode' };
const JOURNAL: RecordKind<JournalLine> = { schema: journalLineSchema };

/**
 * Opens a run directory for reading.
 * @throws RecordingError when the folder holds no run.
 */
export async function openRecording(directory: string): Promise<Recording> {
  const root = resolve(directory);
  const info = await readDocument(root, join(root, 'run.json'), records.runInfoSchema);
  if (info === undefined)
    throw new RecordingError(`${root}: is no run directory (there is no run.json in it)`, {
      reason: 'there is no run.json',
    });
  if (isDamaged(info)) {
    const newer = info.newer === true;
    const reason = newer ? info.damaged : `run.json: ${info.damaged}`;
    throw new RecordingError(`${join(root, 'run.json')}: ${info.damaged}`, { reason, newer });
  }
  return new Recording(root, info);
}

export class Recording {
  /** Absolute path. */
  readonly directory: string;
  readonly info: records.RunInfo;
  private readonly bodies: BodyReader;
  private readonly resolver: CallResolver;
  private readonly indexes = new Map<string, Promise<RecordIndex<object>>>();

  constructor(directory: string, info: records.RunInfo) {
    this.directory = directory;
    this.info = info;
    this.bodies = new BodyReader(directory);
    this.resolver = new CallResolver(this.bodies, (call) => this.locate(call));
  }

  // Each of the following opens a file once and gives the same index again; `refresh()` brings it up to date.

  journal(): Promise<RecordIndex<JournalLine>> {
    return this.index('journal.jsonl', JOURNAL);
  }

  /** @throws RecordingError when the name can be no section's. The same holds for all that take a section. */
  calls(section: string): Promise<RecordIndex<records.CallRecord>> {
    return this.index(`${sectionPath(section)}/calls.jsonl`, CALLS);
  }

  /** Calls of episodes that were interrupted and ran again. */
  interrupted(section: string): Promise<RecordIndex<records.CallRecord>> {
    return this.index(`${sectionPath(section)}/interrupted.jsonl`, CALLS);
  }

  episodes(section: string): Promise<RecordIndex<records.EpisodeRecord>> {
    return this.index(`${sectionPath(section)}/episodes.jsonl`, EPISODES);
  }

  steps(section: string): Promise<RecordIndex<records.StepRecord>> {
    return this.index(`${sectionPath(section)}/steps.jsonl`, STEPS);
  }

  samples(round: number): Promise<RecordIndex<records.SampleRecord>> {
    return this.index(`${sectionPath(roundSection(round))}/samples.jsonl`, SAMPLES);
  }

  scores(round: number): Promise<RecordIndex<records.ScoreRecord>> {
    return this.index(`${sectionPath(roundSection(round))}/scores.jsonl`, SCORES);
  }

  targets(): Promise<RecordIndex<records.TargetRecord>> {
    return this.index('sft/targets.jsonl', TARGETS);
  }

  /** Undefined when there is none yet; the same holds for the other documents. */
  plan(round: number): Promise<records.RoundPlan | Damaged | undefined> {
    return this.document(`${sectionPath(roundSection(round))}/plan.json`, records.planSchema);
  }

  roundSummary(round: number): Promise<records.RoundSummary | Damaged | undefined> {
    return this.document(`${sectionPath(roundSection(round))}/summary.json`, records.roundSummarySchema);
  }

  /** @param id folder name under evaluations/. */
  evaluation(id: string): Promise<records.EvaluationSummary | Damaged | undefined> {
    return this.document(`${sectionPath(`evaluations/${id}`)}/summary.json`, records.evaluationSummarySchema);
  }

  /** Policies by version; a folder whose policy.json cannot be read comes as such. */
  async policies(): Promise<(records.PolicyRecord | Damaged)[]> {
    const versions = (await this.folders('policies'))
      .flatMap((name) => /^v(\d{4,9})$/.exec(name)?.[1] ?? [])
      .map(Number);
    const found: (records.PolicyRecord | Damaged)[] = [];
    for (const version of versions.sort((a, b) => a - b)) {
      const path = `${policySection(version)}/policy.json`;
      const policy = (await this.document(path, records.policySchema)) ?? { damaged: 'is missing', line: 0 };
      found.push(isDamaged(policy) ? { ...policy, damaged: `${path}: ${policy.damaged}` } : policy);
    }
    return found;
  }

  async sections(): Promise<SectionNames> {
    const top = await this.folders('.');
    const inside = async (folder: string) => (await this.folders(folder)).map((name) => `${folder}/${name}`);
    return {
      teacher: top.filter((name) => name === 'teacher'),
      sft: top.filter((name) => name === 'sft'),
      rounds: await inside('rounds'),
      evaluations: await inside('evaluations'),
    };
  }

  /**
   * A call with its messages, tools and prompt ids, or what of them is missing or damaged. Message bodies are shared
   * between calls and must not be changed.
   */
  resolveCall(record: records.CallRecord): Promise<records.ResolvedCall | Damaged> {
    return this.resolver.resolve(record);
  }

  /** The same for those who look at a call: what it holds itself stays, and `problems` says what of its context lacks. */
  resolveCallInPart(record: records.CallRecord): Promise<CallInPart> {
    return this.resolver.resolveInPart(record);
  }

  /** An image by the hash in its image_ref; undefined when there is none. */
  blob(sha256: string): Promise<Blob | Damaged | undefined> {
    return this.bodies.blob(sha256);
  }

  /** Brings everything opened so far up to date. True when there is anything new. */
  async refresh(): Promise<boolean> {
    let news = false;
    for (const index of [...this.indexes.values()]) news = (await (await index).refresh()) || news;
    return news;
  }

  /** Closes the indexes of a section; they are opened anew when asked for again. */
  async release(section: string): Promise<void> {
    const prefix = `${sectionPath(section)}/`;
    for (const [path, index] of [...this.indexes]) {
      if (!path.startsWith(prefix)) continue;
      this.indexes.delete(path);
      await (await index).close();
    }
  }

  async close(): Promise<void> {
    const indexes = [...this.indexes.values()];
    this.indexes.clear();
    for (const index of indexes) await (await index).close();
    await this.bodies.close();
  }

  private index<T extends object>(path: string, kind: RecordKind<T>): Promise<RecordIndex<T>> {
    let index = this.indexes.get(path);
    if (!index) {
      index = RecordIndex.open(this.directory, join(this.directory, path), kind) as Promise<RecordIndex<object>>;
      this.indexes.set(path, index);
    }
    return index as unknown as Promise<RecordIndex<T>>;
  }

  private document<T>(path: string, schema: z.ZodType<T>): Promise<T | Damaged | undefined> {
    return readDocument(this.directory, join(this.directory, path), schema);
  }

  private async folders(path: string): Promise<string[]> {
    try {
      const entries = await readdir(join(this.directory, path), { withFileTypes: true });
      const names = entries.filter((entry) => entry.isDirectory() && PART.test(entry.name)).map((entry) => entry.name);
      return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    } catch {
      return []; // not there yet
    }
  }

  /** Where a call record made elsewhere (sent over a wire, say) is in this run. */
  private async locate(call: records.CallRecord) {
    const { teacher, rounds, evaluations } = await this.sections();
    for (const section of [...teacher, ...rounds, ...evaluations]) {
      const index = await this.calls(section);
      for (const found of await index.forEpisode(call.episode)) {
        if (!isDamaged(found) && found.id === call.id) return originOf(found);
      }
    }
    return undefined;
  }
}

function sectionPath(name: string): string {
  const parts = name.split('/');
  if (parts.length > 2 || !parts.every((part) => PART.test(part))) {
    throw new RecordingError(`${JSON.stringify(name)} is no name of a section, such as teacher or rounds/0001`);
  }
  return name;
}
