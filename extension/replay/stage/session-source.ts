/** Feeds a stage from a replay session: one cursor for it, the debugger and the transcript. */
import { isDamaged, readTrajectory } from '../../../recordings/index.ts';
import type { ReplayEpisode } from '../../../recordings/replay/index.ts';
import type { Disposable } from '../../daemon/emitter.ts';
import type { ReplaySession } from '../session.ts';
import type { StageEpisode, StageScene } from './data.ts';
import { type StageTrajectory, stageEpisode, stageScene } from './episode-view.ts';
import type { StageRestore } from './messages.ts';
import type { StagePlace, StageSource } from './source.ts';

export class SessionSource implements StageSource {
  private readonly session: ReplaySession;
  /** By episode; those of episodes that are still running are asked for again. */
  private readonly trajectories = new Map<string, Promise<StageTrajectory>>();

  constructor(session: ReplaySession) {
    this.session = session;
  }

  async snapshot(): Promise<StageEpisode> {
    const { episode } = this.session;
    return stageEpisode(episode, await this.trajectory(episode));
  }

  place(): StagePlace {
    const { call, part } = this.session.cursor.position;
    return { episode: this.session.episode.id, position: { call, part } };
  }

  async scene(id: string): Promise<StageScene | null> {
    const thread = await this.session.load(id);
    const trajectory = await this.trajectory(this.session.episodes[thread]);
    if (trajectory === null) return null;
    if ('problem' in trajectory) throw new Error(trajectory.problem);
    return stageScene(trajectory);
  }

  async image(sha: string): Promise<{ mediaType: string; bytes: Uint8Array }> {
    const blob = await this.session.recording.blob(sha);
    if (!blob) throw new Error(`the image ${sha.slice(0, 12)} is not among the run's blobs`);
    if (isDamaged(blob)) throw new Error(blob.damaged);
    return blob;
  }

  async goto({ episode, position }: StagePlace): Promise<void> {
    await this.session.cursor.goto({ thread: await this.session.load(episode), ...position });
  }

  async enter(id: string): Promise<void> {
    const { call } = this.session.cursor.position;
    const thread = await this.session.load(id);
    const last = Math.max(0, this.session.episodes[thread].length - 1);
    await this.session.cursor.goto({ thread, call: Math.min(call, last), part: 'call' });
  }

  restore(): StageRestore {
    const { directory, section } = this.session.target;
    return { directory, section, ...this.place() };
  }

  onDidMove(listener: () => void): Disposable {
    return this.session.onDidMove(listener);
  }

  onDidChange(listener: () => void): Disposable {
    return this.session.onDidChange(listener);
  }

  private async trajectory(episode: ReplayEpisode): Promise<StageTrajectory> {
    const { record } = episode.outcome;
    if (!record) return null;
    let reading = this.trajectories.get(episode.id);
    if (!reading) {
      reading = readTrajectory(this.session.recording.directory, record).then((read) => {
        if (read === undefined) return null;
        return isDamaged(read) ? { problem: read.damaged } : read;
      });
      this.trajectories.set(episode.id, reading);
    }
    return reading;
  }
}
