/** A run as the editor sees it: its state, brought up to date by the daemon and carried over lost connections. */
import type { NotificationParams } from '../../protocol/daemon.ts';
import type { JournalLine, ProgressTick } from '../../protocol/journal.ts';
import { applyJournal, emptyRunState, type RunState } from '../../protocol/run-state.ts';
import type { DaemonClient } from './client.ts';
import { type Disposable, Emitter } from './emitter.ts';

/** What happened to a followed run. */
export type RunNews =
  | { kind: 'journal'; line: JournalLine }
  | { kind: 'progress'; tick: ProgressTick }
  /** The state jumped: entries were left out, because this client was far behind or slow. */
  | { kind: 'snapshot'; reason: 'far-behind' | 'slow' }
  | { kind: 'damaged'; message: string }
  /** Of runs of the daemon, for who was there at that moment; `state.phase` always tells. */
  | { kind: 'ended'; ended: NotificationParams<'run.ended'> };

export class FollowedRun implements Disposable {
  /** Name of the run in messages. */
  readonly run: string;
  private folded: RunState = emptyRunState();
  private readonly client: DaemonClient;
  private readonly log: (text: string) => void;
  private readonly emitter: Emitter<RunNews>;
  private readonly subscriptions: Disposable[];
  private asking = false;

  /** Follows a run from its beginning, as soon as the client is ready and whenever it is ready again. */
  constructor(client: DaemonClient, run: string, log: (text: string) => void) {
    this.client = client;
    this.run = run;
    this.log = log;
    this.emitter = new Emitter((error) => log(`a listener of ${run} failed: ${error.stack}`));
    const ours =
      <T extends { run: string }>(take: (params: T) => void) =>
      (params: T) => {
        if (params.run === run) take(params);
      };
    this.subscriptions = [
      client.on(
        'run.journal',
        ours(({ line }) => this.journal(line)),
      ),
      client.on(
        'run.progress',
        ours(({ tick }) => this.emitter.fire({ kind: 'progress', tick })),
      ),
      client.on(
        'run.snapshot',
        ours(({ snapshot, reason }) => {
          this.folded = snapshot.state;
          this.emitter.fire({ kind: 'snapshot', reason });
        }),
      ),
      client.on(
        'run.damaged',
        ours(({ message }) => this.emitter.fire({ kind: 'damaged', message })),
      ),
      client.on(
        'run.ended',
        ours((ended) => this.emitter.fire({ kind: 'ended', ended })),
      ),
      client.onStatus(({ state }) => {
        if (state === 'ready') this.subscribe();
      }),
    ];
    if (client.status.state === 'ready') this.subscribe();
  }

  /** The journal so far, folded. */
  get state(): RunState {
    return this.folded;
  }

  onNews(listener: (news: RunNews) => void): Disposable {
    return this.emitter.on(listener);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    if (this.client.status.state === 'ready')
      this.client.request('runs.unsubscribe', { run: this.run }).catch(() => {});
  }

  private journal(line: JournalLine): void {
    const expected = this.folded.seq + 1;
    if (line.seq < expected) return;
    if (line.seq > expected) {
      this.log(`${this.run}: entry ${line.seq} came where ${expected} was expected; asking again`);
      this.subscribe();
      return;
    }
    applyJournal(this.folded, line);
    this.emitter.fire({ kind: 'journal', line });
  }

  private subscribe(): void {
    if (this.asking) return;
    this.asking = true;
    this.client
      .request('runs.subscribe', { run: this.run, fromSeq: this.folded.seq })
      .catch((error: Error) => {
        this.log(`${this.run}: ${error.message}`);
        if (this.client.status.state === 'ready') this.emitter.fire({ kind: 'damaged', message: error.message });
      })
      .finally(() => {
        this.asking = false;
      });
  }
}
