/** The replays of a window: one an episode, shared by all that show it, and the one a person looks at now. */
import { resolve } from 'node:path';
import { type Disposable, Emitter } from '../daemon/emitter.ts';
import { ReplaySession, type ReplayTarget } from './session.ts';

export class ReplaySessions {
  private readonly open = new Map<string, { session: Promise<ReplaySession>; users: number }>();
  private readonly log: (text: string) => void;
  private readonly changed: Emitter<ReplaySession | undefined>;
  private shown: ReplaySession | undefined;

  constructor(log: (text: string) => void) {
    this.log = log;
    this.changed = new Emitter((error) => log(`replay: ${error.message}`));
  }

  /**
   * The session of an episode, opened if nobody has it open. It stays open until each who asked for it has released it.
   * @throws RecordingError when there is no such run or episode.
   */
  async acquire(target: ReplayTarget): Promise<ReplaySession> {
    const key = keyOf(target);
    const known = this.open.get(key);
    const entry = known ?? { session: ReplaySession.open(target, this.log), users: 0 };
    entry.users++;
    this.open.set(key, entry);
    try {
      return await entry.session;
    } catch (error) {
      if (this.open.get(key) === entry) this.open.delete(key);
      throw error;
    }
  }

  /** To be called once for each {@link acquire}; the last one closes the session. */
  async release(session: ReplaySession): Promise<void> {
    const key = keyOf(session.target);
    const entry = this.open.get(key);
    if (!entry || (await entry.session) !== session || --entry.users > 0) return;
    this.open.delete(key);
    if (this.shown === session) this.show(undefined);
    await session.close();
  }

  /** What a person looks at now. */
  get current(): ReplaySession | undefined {
    return this.shown;
  }

  show(session: ReplaySession | undefined): void {
    if (this.shown === session) return;
    this.shown = session;
    this.changed.fire(session);
  }

  /** Another session is looked at, or none. */
  onDidChangeCurrent(listener: (session: ReplaySession | undefined) => void): Disposable {
    return this.changed.on(listener);
  }

  /** Closes all, whoever uses them. */
  async dispose(): Promise<void> {
    const entries = [...this.open.values()];
    this.open.clear();
    this.show(undefined);
    for (const { session } of entries) await (await session.catch(() => undefined))?.close();
  }
}

function keyOf({ directory, section, episode }: ReplayTarget): string {
  return JSON.stringify([resolve(directory), section, episode]);
}
