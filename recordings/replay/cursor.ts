/**
 * Where a person stands in recorded episodes, and how they get elsewhere. Pure: it knows how many calls an episode has and
 * how many parts a call has, and nothing of files, editors or protocols.
 *
 * The positions of an episode, in order: for each call the call itself (`call`), then its tool calls or cells of code (0, 1,
 * ...); after the last call of an episode that has ended, its outcome (`outcome`, of the last call).
 */

export type Part = 'call' | 'outcome' | number;

export interface Position {
  thread: number;
  /** From 0; 0 also in an episode that has no call (yet). */
  call: number;
  part: Part;
}

/** An episode to stand in. */
export interface CursorThread {
  readonly id: number;
  /** Calls as known now. */
  readonly calls: number;
  /** No call will follow: the outcome can be stood on. */
  readonly ended: boolean;
  /** Tool calls or cells of a call; 0 for one that is damaged. */
  parts(call: number): Promise<number>;
}

/** Why the cursor came to rest. */
export type Rest =
  | { reason: 'step' | 'goto' | 'restart' | 'follow' | 'pause' }
  /** There is nothing further in this direction; for an episode that is being written, nothing yet. */
  | { reason: 'start' | 'end' }
  | { reason: 'stop'; hit: Hit; direction: 'forward' | 'back' };

/** What stopped a continue; what is in it is the caller's. */
export interface Hit {
  kind: string;
  [detail: string]: unknown;
}

/** Asked at every position that a continue passes; the position it starts from is not asked. */
export type StopAt = (position: Position, direction: 'forward' | 'back') => Promise<Hit | undefined> | Hit | undefined;

export interface Move {
  from: Position;
  to: Position;
  rest: Rest;
}

export class EpisodeCursor {
  private readonly threads = new Map<number, CursorThread>();
  private readonly places = new Map<number, Position>();
  private readonly listeners = new Set<(move: Move) => void>();
  private at: number;
  private follows: boolean;
  private running: Promise<unknown> = Promise.resolve();
  private stopping = new AbortController();

  /** Stands at the first call of `first`, or follows the newest one where the episode is being written. */
  constructor(first: CursorThread) {
    this.threads.set(first.id, first);
    this.at = first.id;
    this.follows = !first.ended;
    this.places.set(first.id, {
      thread: first.id,
      call: this.follows ? Math.max(0, first.calls - 1) : 0,
      part: 'call',
    });
  }

  /** Where it stands. */
  get position(): Position {
    return this.positionOf(this.at);
  }

  /** Whether it goes to each new call of an episode that is being written; parked otherwise. */
  get following(): boolean {
    return this.follows && !this.thread(this.at).ended;
  }

  get threadIds(): number[] {
    return [...this.threads.keys()];
  }

  /** Each thread keeps its own place. @throws RangeError when there is no such thread. */
  positionOf(thread: number): Position {
    this.thread(thread);
    return this.places.get(thread) as Position;
  }

  /** Loads a further episode, at its first call. The cursor stays. */
  addThread(thread: CursorThread): void {
    if (this.threads.has(thread.id)) return;
    this.threads.set(thread.id, thread);
    this.places.set(thread.id, { thread: thread.id, call: 0, part: 'call' });
  }

  /** @returns a function that ends it. */
  onMove(listener: (move: Move) => void): () => void {
    const called = (move: Move) => listener(move);
    this.listeners.add(called);
    return () => void this.listeners.delete(called);
  }

  /** To the next call; from a tool call to the next one of the same call, where there is one. */
  stepForward(thread = this.at): Promise<Rest> {
    return this.step(thread, 'end', async (here) => {
      if (typeof here.part === 'number') {
        const sibling = await this.after(here);
        if (sibling) return sibling;
      }
      return this.nextCall(here);
    });
  }

  /** To the call before; from a tool call to the one before it, or to its call. */
  stepBack(thread = this.at): Promise<Rest> {
    return this.step(thread, 'start', async (here) => {
      if (typeof here.part === 'number') return this.before(here);
      if (here.part === 'outcome') return { ...here, part: 'call' };
      return here.call > 0 ? { ...here, call: here.call - 1 } : undefined;
    });
  }

  /** To the next part, be it a tool call of this call, the next call or the outcome. */
  stepIn(thread = this.at): Promise<Rest> {
    return this.step(thread, 'end', (here) => this.after(here));
  }

  /** The way of {@link stepIn}, back. */
  stepInBack(thread = this.at): Promise<Rest> {
    return this.step(thread, 'start', (here) => this.before(here));
  }

  /** Out of a tool call to the next call; out of a call to the end of the episode. */
  stepOut(thread = this.at): Promise<Rest> {
    return this.step(thread, 'end', async (here) => {
      if (typeof here.part === 'number') return this.nextCall(here);
      const end = this.endOf(here.thread);
      return same(here, end) ? undefined : end;
    });
  }

  /** Goes on until `stopAt` tells to stop, or to the end. `pause` and every other move end it where it is. */
  continue(stopAt: StopAt, thread = this.at): Promise<Rest> {
    return this.run(thread, 'forward', stopAt);
  }

  /** As {@link continue}, back. */
  reverseContinue(stopAt: StopAt, thread = this.at): Promise<Rest> {
    return this.run(thread, 'back', stopAt);
  }

  /** Ends a continue under way. */
  pause(): void {
    this.stopping.abort();
  }

  /** @throws RangeError when there is no such position. */
  goto(to: Position): Promise<Rest> {
    return this.move(async () => {
      await this.check(to);
      return this.rest(to, { reason: 'goto' });
    });
  }

  /** To the first call of a thread. */
  restart(thread = this.at): Promise<Rest> {
    return this.move(async () => {
      this.thread(thread);
      return this.rest({ thread, call: 0, part: 'call' }, { reason: 'restart' });
    });
  }

  /** To the outcome, or to the newest call of an episode that is being written, which is followed from then on. */
  toEnd(thread = this.at): Promise<Rest> {
    return this.move(async () => {
      this.thread(thread);
      const rest = this.rest(this.endOf(thread), { reason: 'goto' });
      this.follows = !this.thread(thread).ended;
      return rest;
    });
  }

  /** To be called when threads have grown or ended: where the newest call is followed, the cursor goes there. */
  grown(): Promise<Rest | undefined> {
    return this.queue(async () => {
      const here = this.position;
      const thread = this.thread(this.at);
      if (!this.follows) return undefined;
      const end: Position = thread.ended ? this.endOf(this.at) : { ...here, ...this.newest(thread) };
      const rest = same(here, end) ? undefined : this.rest(end, { reason: 'follow' });
      this.follows = !thread.ended;
      return rest;
    });
  }

  private async run(thread: number, direction: 'forward' | 'back', stopAt: StopAt): Promise<Rest> {
    return this.move(async () => {
      this.thread(thread);
      const { signal } = this.stopping;
      let here = this.positionOf(thread);
      for (;;) {
        if (signal.aborted) return this.rest(here, { reason: 'pause' });
        const next = direction === 'forward' ? await this.after(here) : await this.before(here);
        if (!next) break;
        here = next;
        const hit = await stopAt(here, direction);
        if (hit) return this.rest(here, { reason: 'stop', hit, direction });
      }
      const rest = this.rest(here, { reason: direction === 'forward' ? 'end' : 'start' });
      // Who goes on to the newest call of an episode that is being written wants to see the next one.
      if (direction === 'forward') this.follows = !this.thread(thread).ended;
      return rest;
    });
  }

  private step(
    thread: number,
    edge: 'start' | 'end',
    find: (here: Position) => Promise<Position | undefined>,
  ): Promise<Rest> {
    return this.move(async () => {
      const here = this.positionOf(thread);
      const to = await find(here);
      return this.rest(to ?? here, { reason: to ? 'step' : edge });
    });
  }

  /** One move after the other; each ends a continue under way. */
  private move(work: () => Promise<Rest>): Promise<Rest> {
    this.stopping.abort();
    return this.queue(() => {
      this.stopping = new AbortController();
      return work();
    });
  }

  private queue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.running.then(work);
    this.running = result.catch(() => {});
    return result;
  }

  private rest(to: Position, rest: Rest): Rest {
    const from = this.position;
    this.at = to.thread;
    this.places.set(to.thread, to);
    if (rest.reason !== 'follow') this.follows = false;
    for (const listener of [...this.listeners]) listener({ from, to, rest });
    return rest;
  }

  private async after(here: Position): Promise<Position | undefined> {
    const { calls } = this.thread(here.thread);
    if (here.part === 'outcome') return undefined;
    const next = here.part === 'call' ? 0 : here.part + 1;
    if (here.call < calls && next < (await this.thread(here.thread).parts(here.call))) return { ...here, part: next };
    return this.nextCall(here);
  }

  private async before(here: Position): Promise<Position | undefined> {
    if (typeof here.part === 'number') return { ...here, part: here.part === 0 ? 'call' : here.part - 1 };
    const call = here.part === 'outcome' ? here.call : here.call - 1;
    const thread = this.thread(here.thread);
    if (call < 0 || call >= thread.calls) return here.part === 'outcome' ? { ...here, part: 'call' } : undefined;
    const parts = await thread.parts(call);
    return { ...here, call, part: parts > 0 ? parts - 1 : 'call' };
  }

  private nextCall(here: Position): Position | undefined {
    const { calls, ended } = this.thread(here.thread);
    if (here.part === 'outcome') return undefined;
    if (here.call + 1 < calls) return { ...here, call: here.call + 1, part: 'call' };
    return ended ? { ...here, part: 'outcome' } : undefined;
  }

  private newest({ calls }: CursorThread): { call: number; part: Part } {
    return { call: Math.max(0, calls - 1), part: 'call' };
  }

  private endOf(id: number): Position {
    const thread = this.thread(id);
    const newest = this.newest(thread);
    return { thread: id, ...newest, part: thread.ended ? 'outcome' : 'call' };
  }

  private async check({ thread: id, call, part }: Position): Promise<void> {
    const thread = this.thread(id);
    const last = Math.max(0, thread.calls - 1);
    if (!Number.isInteger(call) || call < 0 || call > last) {
      throw new RangeError(`there is no call ${call}: the episode has ${thread.calls}`);
    }
    if (part === 'call') return;
    if (part === 'outcome') {
      if (thread.ended && call === last) return;
      throw new RangeError(thread.ended ? 'the outcome is after the last call' : 'the episode has no outcome yet');
    }
    const parts = thread.calls === 0 ? 0 : await thread.parts(call);
    if (!Number.isInteger(part) || part < 0 || part >= parts) {
      throw new RangeError(`call ${call} has ${parts} tool calls, there is no tool call ${part}`);
    }
  }

  private thread(id: number): CursorThread {
    const thread = this.threads.get(id);
    if (!thread) throw new RangeError(`there is no thread ${id}`);
    return thread;
  }
}

function same(a: Position, b: Position): boolean {
  return a.thread === b.thread && a.call === b.call && a.part === b.part;
}
