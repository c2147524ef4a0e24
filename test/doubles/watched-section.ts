/** A real section of a real run directory that a test can watch, slow down and starve of disk space. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EpisodeRecord, ResolvedCall } from '../../protocol/records.ts';
import type { RunStore, Section } from '../../trainer-daemon/store/contract.ts';
import { type FileLayer, nodeFiles } from '../../trainer-daemon/store/files.ts';
import { createRun } from '../../trainer-daemon/store/run-store.ts';
import { sleep } from './vllm-server.ts';

export class WatchedSection implements Section {
  /** What is on disk by now. */
  readonly calls: ResolvedCall[] = [];
  readonly episodes: EpisodeRecord[] = [];
  /** Milliseconds each append of a call takes longer. */
  delay = 0;
  /** Files with such a name have no space left. */
  full: RegExp | undefined;
  private readonly run: RunStore;
  private readonly section: Section;

  private constructor(run: RunStore, section: Section) {
    this.run = run;
    this.section = section;
  }

  static async create(name = 'rounds/0001'): Promise<WatchedSection> {
    const space: { full: () => RegExp | undefined } = { full: () => undefined };
    const run = await createRun(
      mkdtempSync(join(tmpdir(), 'watched-')),
      {
        version: 1,
        id: '0badcafe',
        name: 'watched',
        createdAt: '2026-01-01T00:00:00.000Z',
        config: {},
        configFolder: '/',
        software: {},
        adapterSha256: null,
        workspaceCommit: null,
      },
      { files: scarce(() => space.full()) },
    );
    const watched = new WatchedSection(run, run.section(name));
    space.full = () => watched.full;
    return watched;
  }

  get name(): string {
    return this.section.name;
  }
  get directory(): string {
    return this.section.directory;
  }
  async appendCall(call: ResolvedCall): Promise<void> {
    if (this.delay) await sleep(this.delay);
    await this.section.appendCall(call);
    this.calls.push(structuredClone(call));
  }
  async appendEpisode(episode: EpisodeRecord): Promise<void> {
    await this.section.appendEpisode(episode);
    this.episodes.push(structuredClone(episode));
  }
  appendLines(file: string, records: unknown[]): Promise<void> {
    return this.section.appendLines(file, records);
  }
  replaceLines(file: string, records: Iterable<unknown>): Promise<void> {
    return this.section.replaceLines(file, records);
  }
  writeJson(file: string, value: unknown): Promise<void> {
    return this.section.writeJson(file, value);
  }
  setAsideUnfinished(): Promise<number> {
    return this.section.setAsideUnfinished();
  }
  release(): Promise<void> {
    return this.section.release();
  }
  async remove(): Promise<void> {
    this.full = undefined;
    await this.run.close();
    rmSync(this.run.directory, { recursive: true, force: true });
  }
}

function scarce(full: () => RegExp | undefined): FileLayer {
  return {
    rename: nodeFiles.rename,
    async open(path, flags) {
      const file = await nodeFiles.open(path, flags);
      return new Proxy(file, {
        get(target, property) {
          if (property === 'write' && full()?.test(path))
            return () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
          const value = target[property as keyof typeof target];
          return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
        },
      });
    },
  };
}
