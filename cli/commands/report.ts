/** `report RUN`: what a run has done so far: state, policies, rounds, and the table of its evaluations. */
import { Command } from 'commander';
import type { JournalLine } from '../../protocol/journal.ts';
import type { PolicyRecord, RoundSummary } from '../../protocol/records.ts';
import { type Interval, wilson } from '../../protocol/statistics.ts';
import { isDamaged, openRecording, type Recording } from '../../recordings/index.ts';
import { type EvaluationTable, evaluationTable } from '../../trainer-daemon/evaluation/tables.ts';
import { runWriter } from '../../trainer-daemon/store/index.ts';
import { EXIT } from '../exit.ts';
import { duration, percent, plural, whole } from '../output/format.ts';
import { RunStory } from '../output/run-story.ts';
import { jsonText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolveRun } from '../run-argument.ts';
import { episodesOf, evaluationsOf, policyLabel } from '../run-evaluations.ts';

/** A policy as its record tells it, its validation with the Wilson interval of 95 %. */
interface ReportedPolicy extends Omit<PolicyRecord, 'validation'> {
  validation: (NonNullable<PolicyRecord['validation']> & { interval: Interval }) | null;
}

interface Report {
  directory: string;
  name: string;
  createdAt: string;
  /** `running` while a process writes to the run; `unfinished` is one whose process was killed. */
  state: 'finished' | 'stopped' | 'failed' | 'unfinished' | 'running';
  /** Who writes to it, in words. */
  writer: string | null;
  stages: { stage: string; seconds: number | null }[];
  seconds: number | null;
  warnings: string[];
  policies: ReportedPolicy[];
  chosen: number[];
  rounds: RoundSummary[];
  evaluations: EvaluationTable['json'] | null;
  /** What could not be read. */
  damaged: string[];
}

export function reportCommand(terminal: Terminal): Command {
  return new Command('report')
    .description('summarise a run: its state, policies, rounds and evaluations')
    .argument('<run>', 'run directory, or its name in runs/')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExit code 1 when something of the run is damaged; what can be read is reported.')
    .action(async (named: string, options: { json?: boolean }) => {
      const recording = await openRecording(resolveRun(named));
      try {
        const { report, last, evaluationText, whole } = await gather(recording);
        if (options.json) terminal.out(jsonText(report, 2));
        else print(terminal, report, last, evaluationText);
        for (const problem of report.damaged) terminal.err(`${terminal.paintErr.red('damaged')}: ${problem}`);
        if (!whole) terminal.exitCode = EXIT.failed;
      } finally {
        await recording.close();
      }
    });
}

interface Gathered {
  report: Report;
  last?: JournalLine;
  evaluationText?: string;
  /** Nothing is damaged; the last journal line of a killed run, which going on drops, does not count. */
  whole: boolean;
}

async function gather(recording: Recording): Promise<Gathered> {
  const damaged: string[] = [];
  let torn = 0;
  const note = (text: string) => damaged.push(text);
  const lines: JournalLine[] = [];
  for await (const line of await recording.journal()) {
    if (isDamaged(line)) {
      if (line.torn) torn++;
      note(`journal.jsonl, line ${line.line}: ${line.damaged}`);
    } else lines.push(line);
  }
  const policies: PolicyRecord[] = [];
  for (const policy of await recording.policies()) {
    if (isDamaged(policy)) note(policy.damaged);
    else policies.push(policy);
  }
  const { damagedPolicies } = await import('../../trainer-daemon/training/policy-damage.ts');
  damaged.push(...(await damagedPolicies(recording.directory, lines)));
  const rounds: RoundSummary[] = [];
  for (const name of (await recording.sections()).rounds) {
    const summary = await recording.roundSummary(Number(name.split('/')[1]));
    if (summary && isDamaged(summary)) note(`${name}/summary.json: ${summary.damaged}`);
    else if (summary) rounds.push(summary);
  }
  const rows = [];
  for (const evaluation of await evaluationsOf(recording, note)) {
    if (evaluation.kind !== 'evaluation') continue;
    const episodes = await episodesOf(recording, evaluation, note);
    rows.push({ label: policyLabel(evaluation.policyVersion, policies), episodes });
  }
  const evaluations = rows.length > 0 ? evaluationTable(rows) : undefined;
  const told = history(lines);
  const writer = (await runWriter(recording.directory)) ?? null;
  return {
    last: lines.at(-1),
    whole: damaged.length === (told.state === 'finished' ? 0 : torn),
    evaluationText: evaluations?.text,
    report: {
      directory: recording.directory,
      name: recording.info.name,
      createdAt: recording.info.createdAt,
      ...told,
      state: told.state !== 'finished' && writer !== null ? 'running' : told.state,
      writer,
      policies: policies.map(({ validation, ...policy }) => ({
        ...policy,
        validation: validation && { ...validation, interval: wilson(validation.successes, validation.episodes) },
      })),
      rounds,
      evaluations: evaluations?.json ?? null,
      damaged,
    },
  };
}

function history(lines: JournalLine[]): Pick<Report, 'state' | 'stages' | 'seconds' | 'warnings' | 'chosen'> {
  const state = { 'run-finished': 'finished', 'run-stopped': 'stopped', 'run-failed': 'failed' } as const;
  const last = lines.at(-1)?.event.type ?? '';
  const stages = new Map<string, number | null>();
  const warnings: string[] = [];
  const chosen: number[] = [];
  // A run may have been resumed: the time between two of its lives does not count.
  let seconds = 0;
  let before: number | undefined;
  for (const { at, event } of lines) {
    const now = Date.parse(at);
    if (before !== undefined && event.type !== 'run-resumed') seconds += Math.max(0, now - before) / 1000;
    before = now;
    if (event.type === 'stage-started' && !stages.has(event.stage)) stages.set(event.stage, null);
    if (event.type === 'stage-finished') stages.set(event.stage, event.seconds);
    if (event.type === 'warning') warnings.push(event.message);
    if (event.type === 'checkpoint-chosen') chosen.push(event.policyVersion);
  }
  return {
    state: last in state ? state[last as keyof typeof state] : 'unfinished',
    stages: [...stages].map(([stage, took]) => ({ stage, seconds: took })),
    seconds: lines.length > 1 ? seconds : null,
    warnings,
    chosen,
  };
}

function print(terminal: Terminal, report: Report, last: JournalLine | undefined, evaluationText?: string): void {
  const { paint } = terminal;
  const colour = {
    finished: paint.green,
    stopped: paint.yellow,
    failed: paint.red,
    unfinished: paint.yellow,
    running: paint.green,
  };
  terminal.out(
    `${paint.bold(report.name)}: ${colour[report.state](report.state)}${report.seconds === null ? '' : `, ${duration(report.seconds)} at work`}`,
  );
  if (report.state === 'running') terminal.out(`${report.writer} writes to it`);
  terminal.out(`created ${report.createdAt} in ${report.directory}`);
  const stages = report.stages.map(
    ({ stage, seconds }) => `${stage} ${seconds === null ? '(not done)' : duration(seconds)}`,
  );
  if (stages.length > 0) terminal.out(`stages: ${stages.join(', ')}`);
  if (report.state !== 'finished' && last) {
    const told = new RunStory().tell(last.event)?.text ?? last.event.type;
    terminal.out(`last entry, ${last.at}: ${told}`);
  }
  if (report.policies.length > 0) terminal.out(`\n${policyTable(terminal, report)}`);
  if (report.rounds.length > 0) terminal.out(`\n${roundTable(terminal, report.rounds)}`);
  if (evaluationText !== undefined) terminal.out(`\nHeld-out states\n${evaluationText}`);
  const shown = [...new Set(report.warnings)];
  for (const warning of shown.slice(0, 10)) terminal.err(`${terminal.paintErr.yellow('warning')}: ${warning}`);
  if (shown.length > 10) terminal.err(`and ${plural(shown.length - 10, 'further warning')}; --json holds all`);
}

function policyTable(terminal: Terminal, report: Report): string {
  return table(
    terminal,
    [
      { title: 'Policy' },
      { title: 'From' },
      { title: 'Steps', align: 'right' },
      { title: 'Validation', align: 'right' },
      { title: '' },
    ],
    report.policies.map((policy) => [
      `v${policy.version}`,
      policyLabel(policy.version, report.policies),
      whole(policy.step),
      policy.validation ? validated(policy.validation) : '-',
      report.chosen.includes(policy.version) ? 'chosen' : '',
    ]),
  );
}

function validated({ successes, episodes, interval }: NonNullable<ReportedPolicy['validation']>): string {
  const [low, high] = [interval.low, interval.high].map((rate) => (100 * rate).toFixed(0));
  return `${successes}/${episodes} ${percent(successes, episodes)} (${low}-${high})`;
}

function roundTable(terminal: Terminal, rounds: RoundSummary[]): string {
  return table(
    terminal,
    [
      { title: 'Round', align: 'right' },
      { title: 'Episodes', align: 'right' },
      { title: 'Invalid', align: 'right' },
      { title: 'Solved', align: 'right' },
      { title: 'Uneven', align: 'right' },
      { title: 'Selected', align: 'right' },
      { title: 'Steps', align: 'right' },
      { title: 'Time', align: 'right' },
    ],
    rounds.map((round) => [
      String(round.round),
      whole(round.episodes),
      whole(round.invalid),
      percent(round.successes, round.episodes - round.invalid),
      whole(round.groupsWithSignal),
      whole(round.selected),
      whole(round.optimizerSteps),
      duration(round.seconds.collect + round.seconds.samples + round.seconds.update),
    ]),
  ).concat('\nUneven: groups with unequal rewards; only they teach anything');
}
