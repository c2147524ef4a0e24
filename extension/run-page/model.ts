/**
 * The truth behind the run page: what the daemon tells of a run, folded into what the page shows. Pure; it knows neither
 * VS Code nor the daemon nor the clock.
 */
import type { RunSummary } from '../../protocol/daemon.ts';
import { roundSection } from '../../protocol/ids.ts';
import type { JournalLine, ProgressTick } from '../../protocol/journal.ts';
import type { PolicyRecord, StepRecord } from '../../protocol/records.ts';
import { emptyRunState, type RunState, type SectionTally } from '../../protocol/run-state.ts';
import { wilson } from '../../protocol/statistics.ts';
import type { PageData, PageRate, RoundRow, StepRow } from './data.ts';
import { newsOf } from './journal-news.ts';
import type { PageNews } from './messages.ts';
import type { RunReport } from './report.ts';
import { RoundClock, WorkClock } from './time-left.ts';

const SHOWN_WARNINGS = 20;
/** A page that was away for long is not read the whole story. */
const MOST_NEWS = 5;

/** The part of a run without which it is not known how far it came. */
export const JOURNAL = 'journal';

export class RunPageModel {
  private readonly openedAt: number;
  private readonly rounds = new RoundClock();
  private readonly work = new WorkClock();
  private summary: RunSummary;
  private state: RunState = emptyRunState();
  private steps: Record<'sft' | 'rl', StepRow[]> = { sft: [], rl: [] };
  private evaluations: PageData['evaluations'] = null;
  private plannedRounds: number | null = null;
  private readonly unread = new Map<string, string>();
  private trouble: string | null = null;
  private news: PageNews[] = [];

  /** @param openedAt milliseconds since 1970; what the journal tells of the time before is no news. */
  constructor(summary: RunSummary, openedAt: number) {
    this.summary = summary;
    this.openedAt = openedAt;
  }

  takeSummary(summary: RunSummary): void {
    this.summary = summary;
    if (summary.state !== 'running') this.work.stop();
  }

  /** A journal entry that has just gone into `state`. */
  takeEntry(line: JournalLine, state: RunState): void {
    // While entries that a snapshot has told already are caught up with, the snapshot stays the newer state.
    if (state.seq >= this.state.seq) this.state = state;
    this.rounds.entry(line);
    if (line.event.type === 'step') this.takeStep(line.event.record);
    if (Date.parse(line.at) < this.openedAt) return;
    const news = newsOf(line.event);
    if (news) this.news = [...this.news, news].slice(-MOST_NEWS);
  }

  /** A state that jumped over entries; its steps come by {@link takeSteps}. */
  takeState(state: RunState): void {
    this.state = state;
  }

  /** Steps as recorded, in place of those so far of their stages. Newer ones that the journal told meanwhile stay. */
  takeSteps(records: readonly StepRecord[]): void {
    const recorded = records.map(stepRow);
    for (const stage of ['sft', 'rl'] as const) {
      const rows = recorded.filter((row) => row.stage === stage).sort((a, b) => a.step - b.step);
      if (rows.length === 0) continue;
      const last = rows[rows.length - 1].step;
      this.steps[stage] = [...rows, ...this.steps[stage].filter((row) => row.step > last)];
    }
  }

  takeReport(report: RunReport): void {
    this.evaluations = report.evaluations;
    this.rounds.recorded(report.rounds);
  }

  takeTick(tick: ProgressTick, now: number): void {
    this.work.tick(tick, now);
  }

  /** Rounds that the config asks for. */
  takePlan(rounds: number | null): void {
    this.plannedRounds = rounds;
  }

  /** Why a part could not be read; null when it could. */
  takeUnread(part: string, problem: string | null): void {
    if (problem === null) this.unread.delete(part);
    else this.unread.set(part, problem);
  }

  /** Why nothing new comes, in words for the reader; null when it does. */
  takeConnection(trouble: string | null): void {
    this.trouble = trouble;
  }

  /** Hands over what happened since it was asked last. */
  takeNews(): PageNews[] {
    const { news } = this;
    this.news = [];
    return news;
  }

  /** @param now milliseconds since 1970. */
  data(now: number): PageData {
    const { state, summary } = this;
    return {
      head: {
        run: summary.run,
        name: cut(summary.name) ?? '',
        directory: summary.directory,
        state: summary.state,
        stopping: summary.stopping,
        startedAt: state.startedAt ?? summary.createdAt,
        changedAt: state.changedAt,
        problem: cut(state.failure ?? summary.problem ?? this.otherUnread()),
        unread: cut(this.unreadJournal),
        connection: cut(this.trouble),
        warnings: state.warnings.slice(-SHOWN_WARNINGS).map((warning) => cut(warning) ?? ''),
        warningCount: state.warningCount,
      },
      stages: this.stageRows(now),
      work: this.running ? this.work.row(now) : null,
      rounds: roundRows(state),
      steps: [...this.steps.sft, ...this.steps.rl],
      evaluations: this.evaluations,
    };
  }

  private get unreadJournal(): string | null {
    return this.unread.get(JOURNAL) ?? this.summary.unread;
  }

  private otherUnread(): string | null {
    for (const [part, problem] of this.unread) if (part !== JOURNAL) return problem;
    return null;
  }

  private get running(): boolean {
    return this.summary.state === 'running';
  }

  private stageRows(now: number): PageData['stages'] {
    const work = this.running ? this.work.row(now) : null;
    return this.state.stages.map(({ stage, state, startedAt, seconds }): PageData['stages'][number] => {
      const row = { stage, state, startedAt, seconds, share: null, secondsLeft: null };
      if (state === 'done') return { ...row, share: 1 };
      // It may have ended, or begun and ended, behind what cannot be read.
      if (!this.running && this.unreadJournal !== null) return { ...row, state: 'unread' };
      if (state === 'waiting') return { ...row, share: 0 };
      if (stage === 'rl') return { ...row, ...this.roundsLeft(now) };
      // Its only work: how far that is, so far is the stage.
      if (stage === 'teacher' && work && work.total > 0)
        return { ...row, share: work.done / work.total, secondsLeft: work.secondsLeft };
      return row;
    });
  }

  private roundsLeft(now: number): { share: number | null; secondsLeft: number | null } {
    if (this.plannedRounds === null) return { share: null, secondsLeft: null };
    const finished = this.state.rounds.filter((round) => round.state === 'finished').length;
    const all = Math.max(this.plannedRounds, this.state.rounds.length);
    const secondsLeft = this.running ? this.rounds.secondsLeft(all - finished, now) : null;
    return { share: all === 0 ? null : finished / all, secondsLeft };
  }

  /** An update that was cut short is taken again from its start: its earlier steps make room. */
  private takeStep(record: StepRecord): void {
    const rows = this.steps[record.stage];
    while (rows.length > 0 && rows[rows.length - 1].step >= record.step) rows.pop();
    rows.push(stepRow(record));
  }
}

function roundRows(state: RunState): RoundRow[] {
  const rows = state.rounds.map(({ round, state: phase, samplesByStatus }): RoundRow => {
    const tally = state.sections.find(({ section }) => section === roundSection(round));
    return {
      round,
      state: phase,
      rollouts: tally ? rateOf(tally.successes, tally.episodes - tally.invalid) : null,
      invalid: tally?.invalid ?? 0,
      meanReward: tally ? meanReward(tally) : null,
      validation: validationOf(state.policies.find((one) => one.stage === 'rl' && one.round === round)),
      samples: samplesByStatus,
    };
  });
  const before = validationOf(state.policies.find((one) => one.stage === 'sft'));
  if (before)
    rows.unshift({
      ...{ round: 0, state: null, rollouts: null, invalid: 0, meanReward: null },
      ...{ validation: before, samples: {} },
    });
  return rows.sort((a, b) => a.round - b.round);
}

function meanReward({ episodes, invalid, rewards }: SectionTally): number | null {
  return episodes === invalid ? null : rewards / (episodes - invalid);
}

function validationOf(policy: PolicyRecord | undefined): PageRate | null {
  return policy?.validation ? rateOf(policy.validation.successes, policy.validation.episodes) : null;
}

/** A rate with its interval. */
export function rateOf(successes: number, episodes: number): PageRate {
  return { episodes, successes, rate: episodes === 0 ? null : successes / episodes, ...wilson(successes, episodes) };
}

/** The figures of an optimizer step that curves are drawn of. */
export function stepRow(record: StepRecord): StepRow {
  const { clipFractions, importance, approximateKl, responseLength } = record;
  return {
    stage: record.stage,
    round: record.round,
    step: record.step,
    learningRate: finite(record.learningRate),
    loss: finite(record.loss),
    gradNorm: finite(record.gradNorm),
    clipLow: finite(clipFractions?.low),
    clipHigh: finite(clipFractions?.high),
    clipDual: finite(clipFractions?.dual),
    importance: finite(importance?.mean),
    capped: finite(importance?.cappedShare),
    kl: finite(approximateKl),
    meanLength: finite(responseLength?.mean),
    maxLength: finite(responseLength?.max),
  };
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** A text that a message has room for. */
function cut(text: string | null): string | null {
  return text !== null && text.length > 10_000 ? `${text.slice(0, 10_000)}...` : text;
}
