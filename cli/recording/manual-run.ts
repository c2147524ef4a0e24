/** A run directory for calls recorded by hand: no config, no training, but readable and replayable like any run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { episodeId } from '../../protocol/ids.ts';
import { sha256 } from '../../protocol/random.ts';
import { type EpisodeRecord, RECORD_VERSION, type RunInfo } from '../../protocol/records.ts';
import { packageRoot } from '../../trainer-daemon/bundles.ts';
import type { ProxyEpisode } from '../../trainer-daemon/proxy/index.ts';
import { type RunStore, type Section, StoreError } from '../../trainer-daemon/store/contract.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';

const SECTION = 'evaluations/recorded';
const TASK = 'recorded/0';

export class ManualRun {
  readonly store: RunStore;
  readonly section: Section;
  #episodes = 0;

  private constructor(store: RunStore) {
    this.store = store;
    this.section = store.section(SECTION);
  }

  /** @throws StoreError when the folder holds something already. */
  static async create(directory: string, upstream: { kind: string; url: string; model: string }): Promise<ManualRun> {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
    const createdAt = new Date().toISOString();
    const info: RunInfo = {
      version: RECORD_VERSION,
      id: sha256(JSON.stringify([directory, createdAt, upstream])).slice(0, 8),
      name: 'recorded',
      createdAt,
      config: { recordedFrom: upstream },
      configFolder: process.cwd(),
      software: { 'agentic-robo-rl': version, node: process.version },
      adapterSha256: null,
      workspaceCommit: null,
    };
    const store = await createRun(directory, info).catch((error: Error) => {
      // What the store says holds for trainings: those can be gone on with.
      if (!error.message.includes('holds a run already')) throw error;
      throw new StoreError(
        `${directory}: holds a run already, and a recording cannot be gone on with: name another folder`,
      );
    });
    return new ManualRun(store);
  }

  /** The next episode's id; its number stands where the initial state stands in other runs. */
  nextEpisode(): { id: string; init: number } {
    const init = this.#episodes++;
    const id = episodeId({
      run: this.store.info.id,
      role: 'evaluation',
      round: 0,
      task: TASK,
      init,
      attempt: 0,
      tryNumber: 0,
    });
    return { id, init };
  }

  /** Without an adapter nobody knows the outcome, so the episode is kept as invalid and never trained on. */
  async finish(episode: ProxyEpisode, init: number, startedAt: Date): Promise<EpisodeRecord> {
    const record: EpisodeRecord = {
      version: RECORD_VERSION,
      id: episode.id,
      role: 'evaluation',
      round: 0,
      task: TASK,
      init,
      attempt: 0,
      reward: 0,
      valid: false,
      invalidReason: `recorded without an adapter: no outcome${
        episode.untrainable === null ? '' : `; not to be trained on: ${episode.untrainable}`
      }`,
      successTurn: null,
      policyVersion: null,
      turns: episode.calls.filter((call) => call.status === 'complete').length,
      seconds: (Date.now() - startedAt.getTime()) / 1000,
      end: 'exit',
      tryNumber: 0,
      outputDir: null,
      trajectory: null,
      startedAt: startedAt.toISOString(),
    };
    await this.section.appendEpisode(record);
    return record;
  }
}
