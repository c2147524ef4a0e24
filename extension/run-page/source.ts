/** Feeds the model of a run page from the daemon, over lost connections and restarts. Knows nothing of VS Code. */
import { z } from 'zod';
import { roundSection } from '../../protocol/ids.ts';
import type { StepRecord } from '../../protocol/records.ts';
import type { RunState } from '../../protocol/run-state.ts';
import { openRecording } from '../../recordings/index.ts';
import type { DaemonClient, DaemonStatus } from '../daemon/client.ts';
import { type Disposable, Emitter } from '../daemon/emitter.ts';
import { FollowedRun, type RunNews } from '../daemon/followed-run.ts';
import { JOURNAL, RunPageModel } from './model.ts';
import { readReport } from './report.ts';

export interface SourceOptions {
  log(text: string): void;
  /** Why nothing new comes, in words for the reader; null for a daemon that is ready. */
  connectionWords(status: DaemonStatus): string | null;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Steps asked for at a time. */
const PAGE = 1000;

/** Parts that are asked for, as the log calls them. */
const RUN = 'its state';
const STEPS = 'its optimizer steps';
const EVALUATIONS = 'its evaluations';

export class RunPageSource implements Disposable {
  readonly model: RunPageModel;
  private readonly client: DaemonClient;
  private readonly run: string;
  private readonly options: SourceOptions;
  private readonly followed: FollowedRun;
  private readonly emitter: Emitter<undefined>;
  private readonly subscriptions: Disposable[];
  private readonly brokenOff = new Set<string>();
  private reporting = false;
  private reportAgain = false;
  private disposed = false;

  /**
   * Begins to follow a run; `client` has to be ready.
   * @throws DaemonError when there is no such run, DaemonUnavailable without a daemon.
   */
  static async open(client: DaemonClient, run: string, options: SourceOptions): Promise<RunPageSource> {
    const { summary, state } = await client.request('runs.snapshot', { run });
    const model = new RunPageModel(summary, (options.now ?? Date.now)());
    model.takeState(state);
    model.takePlan(await plannedRounds(summary.directory, options));
    return new RunPageSource(client, model, summary.run, state, options);
  }

  private constructor(client: DaemonClient, model: RunPageModel, run: string, state: RunState, options: SourceOptions) {
    this.client = client;
    this.model = model;
    this.run = run;
    this.options = options;
    this.emitter = new Emitter((error) => options.log(`a listener of the page of ${run} failed: ${error.stack}`));
    this.followed = new FollowedRun(client, run, options.log);
    this.subscriptions = [
      this.followed,
      this.followed.onNews((news) => this.told(news)),
      client.on('runs.changed', ({ summary }) => {
        if (summary.run !== run) return;
        model.takeSummary(summary);
        this.changed();
      }),
      client.onStatus((status) => {
        model.takeConnection(options.connectionWords(status));
        this.changed();
        // What happened in between may have ended the run without a word.
        if (status.state !== 'ready') return;
        void this.lookAgain();
        if (this.brokenOff.has(STEPS)) void this.loadSteps();
        if (this.brokenOff.has(EVALUATIONS)) void this.report();
      }),
    ];
    if (isEvaluated(state)) void this.report();
  }

  onChange(listener: () => void): Disposable {
    return this.emitter.on(listener);
  }

  dispose(): void {
    this.disposed = true;
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private told(news: RunNews): void {
    const { model } = this;
    switch (news.kind) {
      case 'journal': {
        model.takeEntry(news.line, this.followed.state);
        const { event } = news.line;
        if (event.type === 'evaluated' && event.summary.kind === 'evaluation') void this.report();
        break;
      }
      case 'progress':
        model.takeTick(news.tick, this.now());
        break;
      case 'snapshot':
        model.takeState(this.followed.state);
        void this.loadSteps();
        // Which rounds took how long was in entries that were left out.
        void this.report();
        break;
      case 'damaged':
        model.takeUnread(JOURNAL, news.message);
        // Whether the run was evaluated may stand behind what cannot be read.
        void this.report();
        break;
      case 'ended':
        void this.lookAgain();
        break;
    }
    this.changed();
  }

  private changed(): void {
    if (!this.disposed) this.emitter.fire(undefined);
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  private async lookAgain(): Promise<void> {
    await this.trying(RUN, async () => {
      const { summary } = await this.client.request('runs.snapshot', { run: this.run });
      this.model.takeSummary(summary);
    });
  }

  /** Steps of entries that were left out, from their files. */
  private async loadSteps(): Promise<void> {
    await this.trying(STEPS, async () => {
      const { rounds, steps } = this.followed.state;
      const sections = rounds.map(({ round }) => roundSection(round));
      if (steps.sft.done > 0) sections.unshift('sft');
      const records: StepRecord[] = [];
      for (const section of sections) records.push(...(await this.stepsOf(section)));
      this.model.takeSteps(records);
    });
  }

  private async stepsOf(section: string): Promise<StepRecord[]> {
    const records: StepRecord[] = [];
    for (let offset = 0; ; ) {
      const { items, total } = await this.client.request('steps.list', { run: this.run, section, offset, limit: PAGE });
      for (const item of items) if (!('damaged' in item)) records.push(item as StepRecord);
      offset += items.length;
      if (items.length === 0 || offset >= total) return records;
    }
  }

  /** One report at a time; asked for meanwhile, another one follows. */
  private async report(): Promise<void> {
    if (this.reporting) {
      this.reportAgain = true;
      return;
    }
    this.reporting = true;
    do {
      this.reportAgain = false;
      await this.trying(EVALUATIONS, async () => {
        this.model.takeReport(readReport(await this.client.request('runs.report', { run: this.run })));
      });
    } while (this.reportAgain && !this.disposed);
    this.reporting = false;
  }

  /** What a lost connection broke off comes again with the next one; anything else is told on the page. */
  private async trying(part: string, work: () => Promise<void>): Promise<void> {
    try {
      this.brokenOff.delete(part);
      await work();
      this.model.takeUnread(part, null);
    } catch (error) {
      this.options.log(`${this.run}: ${part} could not be read: ${(error as Error).message}`);
      if (this.client.status.state === 'ready') this.model.takeUnread(part, (error as Error).message);
      else this.brokenOff.add(part);
    }
    this.changed();
  }
}

function isEvaluated({ evaluations }: RunState): boolean {
  return evaluations.some(({ kind }) => kind === 'evaluation');
}

const plan = z.object({ rl: z.object({ rounds: z.number().int().nonnegative() }) });

/** Rounds of the run's config; null where it cannot be read, which the daemon tells as well. */
async function plannedRounds(directory: string, { log }: SourceOptions): Promise<number | null> {
  try {
    const recording = await openRecording(directory);
    try {
      return plan.parse(recording.info.config).rl.rounds;
    } finally {
      await recording.close();
    }
  } catch (error) {
    log(`${directory}: its config cannot be read: ${(error as Error).message}`);
    return null;
  }
}
