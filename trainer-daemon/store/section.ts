/** One folder of records of a run. */
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import {
  type CallRecord,
  callSchema,
  type EpisodeRecord,
  RECORD_VERSION,
  type ResolvedCall,
} from '../../protocol/records.ts';
import type { BodyStore } from './bodies.ts';
import { CallBases, sharedPrefix } from './call-bases.ts';
import { type Section, StoreError } from './contract.ts';
import { storeError } from './disk-trouble.ts';
import { type FileLayer, makeDirectory, replaceFile } from './files.ts';
import { checkFileName, checkSectionName } from './names.ts';
import { RecordFile } from './record-file.ts';
import { checkedText, recordSchema } from './record-schemas.ts';
import { moveUnfinishedCalls } from './unfinished.ts';

/** What a section shares with the rest of its run. */
export interface SectionParts {
  runDirectory: string;
  files: FileLayer;
  bodies: BodyStore;
  onRepair: (path: string, bytes: number) => void;
}

/** Bytes of lines collected before they are written, when a whole file is replaced. */
const CHUNK = 1024 * 1024;

export class RunSection implements Section {
  readonly name: string;
  readonly directory: string;
  private readonly parts: SectionParts;
  private readonly recordFiles = new Map<string, RecordFile>();
  private readonly bases = new CallBases();
  /** The last append of each running episode: calls of an episode are stored one after another. */
  private readonly lastAppend = new Map<string, Promise<void>>();
  private inPlace: Promise<void> | undefined;

  /** @throws StoreError when the name leads out of the run directory. */
  constructor(name: string, parts: SectionParts) {
    this.name = name;
    this.directory = join(parts.runDirectory, ...checkSectionName(name));
    this.parts = parts;
  }

  async appendCall(call: ResolvedCall): Promise<void> {
    const earlier = this.lastAppend.get(call.episode);
    const append = (earlier ?? Promise.resolve()).catch(() => {}).then(() => this.storeCall(call));
    this.lastAppend.set(call.episode, append);
    try {
      await append;
    } finally {
      if (this.lastAppend.get(call.episode) === append) this.lastAppend.delete(call.episode);
    }
  }

  async appendEpisode(episode: EpisodeRecord): Promise<void> {
    await this.appendLines('episodes.jsonl', [episode]);
    this.bases.forget(episode.id);
  }

  async appendLines(file: string, records: unknown[]): Promise<void> {
    const target = this.recordFile(file);
    const schema = recordSchema(this.name, file);
    const lines = records.map((record) => `${checkedText(`${this.name}/${file}`, schema, record)}\n`);
    await this.ready();
    if (lines.length > 0) await target.append(lines.join(''));
  }

  async replaceLines(file: string, records: Iterable<unknown>): Promise<void> {
    const target = this.recordFile(file);
    const schema = recordSchema(this.name, file);
    const place = `${this.name}/${file}`;
    await this.ready();
    await target.exclusively(() => replaceFile(target.path, chunksOf(place, schema, records), this.parts.files));
  }

  async writeJson(file: string, value: unknown): Promise<void> {
    const path = join(this.directory, checkFileName(file, '.json'));
    const text = checkedText(`${this.name}/${file}`, recordSchema(this.name, file), value, 2);
    await this.ready();
    await replaceFile(path, [Buffer.from(`${text}\n`)], this.parts.files);
  }

  async setAsideUnfinished(): Promise<number> {
    await Promise.allSettled(this.lastAppend.values());
    await this.ready();
    const calls = this.recordFile('calls.jsonl');
    const episodes = this.recordFile('episodes.jsonl');
    const interrupted = this.recordFile('interrupted.jsonl');
    const moved = await calls.exclusively(() =>
      moveUnfinishedCalls({ calls: calls.path, episodes: episodes.path, interrupted, files: this.parts.files }),
    );
    this.bases.clear();
    return moved;
  }

  /** Cuts off torn last lines of the given files of this section. */
  async repair(files: string[]): Promise<void> {
    await this.ready();
    for (const file of files) await this.recordFile(file).repair();
  }

  async release(): Promise<void> {
    await Promise.allSettled(this.lastAppend.values());
    for (const file of this.recordFiles.values()) await file.release();
    this.bases.clear();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.lastAppend.values());
    for (const file of this.recordFiles.values()) await file.close();
  }

  private async storeCall(call: ResolvedCall): Promise<void> {
    const { bodies } = this.parts;
    const messages = call.request.messages.map((message) => bodies.prepareMessage(message));
    const tools = call.request.tools === null ? [] : [bodies.prepareTools(call.request.tools)];
    const hashes = messages.map((message) => message.sha256);
    const record = this.recordOf(call, hashes, tools[0]?.sha256 ?? null);
    const line = `${checkedText(`${this.name}/calls.jsonl`, callSchema, record)}\n`;
    await this.ready();
    await bodies.keep([...messages, ...tools]);
    await this.recordFile('calls.jsonl').append(line);
    if (call.status === 'complete') {
      this.bases.set(call.episode, {
        id: call.id,
        messages: hashes,
        promptTokenIds: call.promptTokenIds && [...call.promptTokenIds],
      });
    }
  }

  /** The stored form of a call; ids come first in the line, where readers look for them. */
  private recordOf(call: ResolvedCall, messages: string[], tools: string | null): CallRecord {
    const { id, episode, request, promptTokenIds: prompt, ...others } = call;
    const base = this.bases.get(episode);
    const sharedMessages = base ? sharedPrefix(base.messages, messages) : 0;
    const shared = base?.promptTokenIds && prompt ? sharedPrefix(base.promptTokenIds, prompt) : 0;
    return {
      version: RECORD_VERSION,
      id,
      episode,
      ...others,
      request: {
        ...(base && sharedMessages > 0 ? { start: { base: base.id, shared: sharedMessages } } : {}),
        messages: messages.slice(sharedMessages),
        tools,
        other: request.other,
      },
      prompt: prompt && {
        base: base && shared > 0 ? base.id : null,
        shared,
        suffix: prompt.slice(shared),
        length: prompt.length,
      },
    };
  }

  private recordFile(name: string): RecordFile {
    let file = this.recordFiles.get(name);
    if (!file) {
      const path = join(this.directory, checkFileName(name, '.jsonl'));
      file = new RecordFile(path, this.parts.files, this.parts.onRepair);
      this.recordFiles.set(name, file);
    }
    return file;
  }

  /** Creates the folder, once, and makes sure that no symbolic link leads it out of the run. */
  private ready(): Promise<void> {
    this.inPlace ??= this.prepareFolder().catch((error) => {
      this.inPlace = undefined;
      throw storeError(this.directory, 'create the folder', error);
    });
    return this.inPlace;
  }

  private async prepareFolder(): Promise<void> {
    await makeDirectory(this.directory);
    const root = await realpath(this.parts.runDirectory);
    if (!(await realpath(this.directory)).startsWith(root + sep)) {
      throw new StoreError(`${this.directory}: a symbolic link leads out of the run directory; remove it`);
    }
  }
}

function* chunksOf(
  place: string,
  schema: ReturnType<typeof recordSchema>,
  records: Iterable<unknown>,
): Generator<Uint8Array> {
  let lines: string[] = [];
  let size = 0;
  for (const record of records) {
    const line = `${checkedText(place, schema, record)}\n`;
    lines.push(line);
    size += line.length;
    if (size >= CHUNK) {
      yield Buffer.from(lines.join(''));
      lines = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.from(lines.join(''));
}
