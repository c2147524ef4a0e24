/** What every stage of a run shares: the store, the adapter, the proxy, the served planner, and the wish to stop. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TrainingConfig } from '../../protocol/config.ts';
import { policySection } from '../../protocol/ids.ts';
import type { JournalEvent, JournalLine, ProgressTick, RunEvent } from '../../protocol/journal.ts';
import type { PolicyRecord } from '../../protocol/records.ts';
import { openRecording, type Recording } from '../../recordings/index.ts';
import { type PlannerServer, startPlannerServer } from '../planner/serving/server.ts';
import type { RecordingProxy, Upstream } from '../proxy/contract.ts';
import { createUpstream, PolicyGate } from '../proxy/index.ts';
import type { LoadedAdapter } from '../rollouts/contract.ts';
import { type ProcessRoster, WorkerPool } from '../rollouts/index.ts';
import type { RunStore } from '../store/contract.ts';
import { isSooner, readStopRequest } from '../store/index.ts';
import { type StopControl, TrainingError } from './contract.ts';
import { eventsOf, policiesOf } from './history.ts';

/** Thrown to leave the stages when the run was asked to stop; the run can be resumed. */
export class Stopped extends Error {
  readonly reason: 'episode' | 'round' | 'now' | 'signal';

  constructor(reason: Stopped['reason']) {
    super(`the run was stopped (${reason})`);
    this.reason = reason;
  }
}

export interface RunParts {
  store: RunStore;
  config: TrainingConfig;
  configFolder: string;
  adapter: LoadedAdapter;
  proxy: RecordingProxy;
  roster: ProcessRoster;
  /** Journal lines already on disk. */
  history: JournalLine[];
  stop: StopControl;
  signal?: AbortSignal;
  onEvent?: (event: RunEvent) => void;
}

export class RunContext {
  readonly store: RunStore;
  readonly config: TrainingConfig;
  readonly configFolder: string;
  readonly adapter: LoadedAdapter;
  readonly proxy: RecordingProxy;
  /** Where harness processes are noted. */
  readonly roster: ProcessRoster;
  /** Harness processes that play one episode after another. They outlast a section: starting them is dear. */
  readonly workers: WorkerPool;
  /** The journal, kept up to date. */
  readonly lines: JournalLine[];
  private readonly stop: StopControl;
  private readonly abort = new AbortController();
  private readonly onEvent?: (event: RunEvent) => void;
  private readonly external?: AbortSignal;
  private readonly watch: NodeJS.Timeout;
  /** Holds planner calls while the served weights change. */
  private readonly gate = new PolicyGate();
  private server?: PlannerServer;
  private served?: string;
  private reader?: Recording;
  private readonly endNow = () => this.abort.abort();

  constructor(parts: RunParts) {
    this.store = parts.store;
    this.config = parts.config;
    this.configFolder = parts.configFolder;
    this.adapter = parts.adapter;
    this.proxy = parts.proxy;
    this.roster = parts.roster;
    this.workers = new WorkerPool(parts.configFolder, parts.adapter.withheld, parts.roster);
    this.lines = parts.history;
    this.stop = parts.stop;
    this.onEvent = parts.onEvent;
    this.external = parts.signal;
    if (parts.signal?.aborted) this.endNow();
    parts.signal?.addEventListener('abort', this.endNow, { once: true });
    // StopControl is a plain object a watcher changes; running episodes only notice an AbortSignal.
    let ticks = 0;
    this.watch = setInterval(() => {
      if (ticks++ % 5 === 0) void this.heedRequest();
      if (this.stop.mode === 'now') this.endNow();
    }, 200);
    this.watch.unref();
  }

  /** Another process may have asked for the end; a wish for a later end than the present one changes nothing. */
  private async heedRequest(): Promise<void> {
    const request = await readStopRequest(this.store.directory);
    if (request && isSooner(request.mode, this.stop.mode)) this.stop.mode = request.mode;
  }

  /** Aborts when running episodes are to end at once. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** True when no further episode or step should start. */
  get stopping(): boolean {
    return this.signal.aborted || this.stop.mode === 'now' || this.stop.mode === 'episode';
  }

  /** @throws Stopped when the run was asked to stop at this kind of boundary or a finer one. */
  checkStop(boundary: 'episode' | 'round' = 'episode'): void {
    if (this.external?.aborted) throw new Stopped('signal');
    if (this.stop.mode === 'now') throw new Stopped('now');
    if (this.stop.mode === 'episode') throw new Stopped('episode');
    if (this.stop.mode === 'round' && boundary === 'round') throw new Stopped('round');
  }

  async journal(event: JournalEvent): Promise<void> {
    const line = await this.store.journal(event);
    this.lines.push(line);
    this.onEvent?.({ kind: 'journal', line });
  }

  progress(tick: ProgressTick): void {
    this.onEvent?.({ kind: 'progress', tick });
  }

  /** Journal events of one type, oldest first. */
  events<T extends JournalEvent['type']>(type: T): Extract<JournalEvent, { type: T }>[] {
    return eventsOf(this.lines, type);
  }

  path(...parts: string[]): string {
    return join(this.store.directory, ...parts);
  }

  policyFolder(version: number): string {
    return this.path(policySection(version));
  }

  /** Policies whose creation is in the journal and whose folder is there, by version. */
  policies(): PolicyRecord[] {
    return policiesOf(this.lines).filter(({ version }) => existsSync(join(this.policyFolder(version), 'config.json')));
  }

  /** The run's files as a reader sees them, up to date with what was written. */
  async recording(): Promise<Recording> {
    this.reader ??= await openRecording(this.store.directory);
    return this.reader;
  }

  /** Closes the files of a section that is done with for now, so that their number does not grow with the rounds. */
  async release(section: string): Promise<void> {
    await this.store.section(section).release();
    await this.reader?.release(section);
  }

  /** The embedded server, answering with the given checkpoint under the given version. */
  async servePlanner(folder: string, policyVersion: number): Promise<Upstream> {
    const { serving } = this.config;
    if (serving.upstream !== 'embedded') {
      throw new TrainingError(
        `serving.upstream "${serving.upstream}": this version trains planners it serves itself; set serving.upstream to embedded`,
      );
    }
    if (!this.server) {
      this.server = await startPlannerServer({
        checkpoint: folder,
        policyVersion,
        modelName: 'planner',
        deterministic: serving.deterministic,
        maxBatch: Math.max(8, this.config.harness.concurrency),
      });
      this.served = undefined;
    }
    if (this.served !== folder) {
      const { server } = this;
      if (this.served !== undefined || server.policyVersion !== policyVersion)
        await this.gate.during(() => server.activate(folder, policyVersion));
      this.served = folder;
      await this.journal({ type: 'policy-served', policyVersion });
    }
    const server = this.server;
    return createUpstream({
      kind: 'embedded',
      url: server.url,
      model: 'planner',
      apiKey: null,
      policyVersion: () => server.policyVersion,
      gate: this.gate,
    });
  }

  async close(): Promise<void> {
    clearInterval(this.watch);
    this.external?.removeEventListener('abort', this.endNow);
    await this.workers.close();
    await this.server?.close();
    await this.reader?.close();
  }
}
