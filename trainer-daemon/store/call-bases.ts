/**
 * What the last complete call of each running episode sent, so that the next call is stored as what it adds: requests
 * of an episode repeat their history, and storage must not grow with its square.
 */

/** Messages (by hash) and prompt ids of a stored call. */
export interface CallBase {
  id: string;
  messages: string[];
  promptTokenIds: number[] | null;
}

/** Episodes that ended without a record are forgotten after this many others. */
const MOST_EPISODES = 128;

export class CallBases {
  private readonly bases = new Map<string, CallBase>();

  get(episode: string): CallBase | undefined {
    return this.bases.get(episode);
  }

  set(episode: string, base: CallBase): void {
    this.bases.delete(episode);
    this.bases.set(episode, base);
    if (this.bases.size > MOST_EPISODES) {
      for (const oldest of this.bases.keys()) {
        this.bases.delete(oldest);
        break;
      }
    }
  }

  forget(episode: string): void {
    this.bases.delete(episode);
  }

  clear(): void {
    this.bases.clear();
  }
}

/** Length of the longest common prefix. */
export function sharedPrefix<T>(a: readonly T[], b: readonly T[]): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared++;
  return shared;
}
