/** A section in memory with a real folder for episode output, for tests of episodes alone. */
import type { EpisodeRecord } from '../../protocol/records.ts';
import type { Section } from '../../trainer-daemon/store/contract.ts';
import { MemorySink } from './call-sink.ts';

export class MemorySection extends MemorySink implements Section {
  readonly name = 'rounds/0001';
  readonly directory: string;
  readonly episodes: EpisodeRecord[] = [];
  /** Fails every further episode record. */
  broken = false;

  constructor(directory: string) {
    super();
    this.directory = directory;
  }

  async appendEpisode(episode: EpisodeRecord): Promise<void> {
    if (this.broken) throw new Error('ENOSPC: no space left on device');
    this.episodes.push(structuredClone(episode));
  }
  async appendLines(): Promise<void> {}
  async replaceLines(): Promise<void> {}
  async writeJson(): Promise<void> {}
  async setAsideUnfinished(): Promise<number> {
    return 0;
  }
}
