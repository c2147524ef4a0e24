/** `samples RUN --round N`: which calls of a round are trained on, and why the others are not. */
import { Command } from 'commander';
import { nearest } from '../../protocol/nearest.ts';
import type { SampleRecord } from '../../protocol/records.ts';
import { isDamaged, openRecording, type Recording } from '../../recordings/index.ts';
import { STATUS } from '../../trainer-daemon/samples/reasons.ts';
import { CommandError } from '../exit.ts';
import { percent, plural, whole } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import { sampleMeaning } from '../output/sample-meanings.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolveRun } from '../run-argument.ts';
import { parseCount } from './train.ts';

interface SamplesArguments {
  round?: number;
  status?: string;
  episode?: string;
  limit: number;
  json?: boolean;
}

export function samplesCommand(terminal: Terminal): Command {
  return new Command('samples')
    .description('show how the calls of a round became samples: counts by reason, then the samples')
    .argument('<run>', 'run directory, or its name in runs/')
    .option('--round <n>', 'which round (default: the last that has samples)', parseCount)
    .option('--status <text>', 'only samples whose status begins with this, such as selected or zero-weight')
    .option('--episode <id>', 'only samples of this episode')
    .option('--limit <n>', 'samples in the table, 0 for all', parseCount, 20)
    .option('--json', 'JSON Lines: every sample record')
    .action(async (named: string, options: SamplesArguments) => {
      const recording = await openRecording(resolveRun(named));
      try {
        await showSamples(terminal, recording, options);
      } finally {
        await recording.close();
      }
    });
}

async function showSamples(terminal: Terminal, recording: Recording, options: SamplesArguments): Promise<void> {
  if (options.status !== undefined) checkStatus(options.status);
  const round = options.round ?? (await lastRound(recording));
  const index = await recording.samples(round);
  if (index.length === 0) {
    const rounds = (await recording.sections()).rounds.map((name) => Number(name.split('/')[1]));
    throw new CommandError(
      `round ${round} has no samples${rounds.length > 0 ? `; rounds on disk: ${rounds.join(', ')}` : '; this run has no rounds yet'}`,
    );
  }
  const counts = new Map<string, number>();
  const chosen: SampleRecord[] = [];
  let all = 0;
  let matching = 0;
  const episodes = new Set<string>();
  for await (const record of index) {
    if (isDamaged(record)) {
      terminal.err(`${index.path}, line ${record.line}: ${record.damaged}`);
      continue;
    }
    all++;
    counts.set(record.status, (counts.get(record.status) ?? 0) + 1);
    episodes.add(record.episode);
    if (options.status !== undefined && !record.status.startsWith(options.status)) continue;
    if (options.episode !== undefined && record.episode !== options.episode) continue;
    matching++;
    if (options.json) terminal.out(jsonText(record));
    else if (options.limit === 0 || chosen.length < options.limit) chosen.push(record);
  }
  if (options.episode !== undefined && !episodes.has(options.episode)) {
    const near = nearest(options.episode, [...episodes]);
    throw new CommandError(
      `round ${round} has no sample of an episode "${options.episode}"${near ? `; did you mean "${near}"?` : `; episodes are named like ${[...episodes][0]}`}`,
    );
  }
  if (options.json) return;

  const summary = await recording.roundSummary(round);
  if (summary && !isDamaged(summary)) {
    const valid = summary.episodes - summary.invalid;
    terminal.out(
      `round ${round} under policy v${summary.policyVersion}: ${plural(summary.episodes, 'episode')}, ${percent(summary.successes, valid)} solved,\n${plural(summary.groupsWithSignal, 'group')} with unequal rewards`,
    );
  } else terminal.out(`round ${round}: not finished yet`);
  const rows = [...counts].sort((a, b) => b[1] - a[1]);
  terminal.out(
    table(
      terminal,
      [
        { title: 'Status' },
        { title: 'Calls', align: 'right' },
        { title: 'Share', align: 'right' },
        { title: 'Meaning', wrap: true },
      ],
      [
        ...rows.map(([status, count]) => [status, whole(count), percent(count, all), sampleMeaning(status)]),
        ['all', whole(all), '', ''],
      ],
    ),
  );
  if (chosen.length === 0) {
    terminal.out('no sample is like that');
    return;
  }
  terminal.out(
    table(
      terminal,
      [
        { title: 'Call', wrap: true },
        { title: 'Advantage', align: 'right' },
        { title: 'u', align: 'right' },
        { title: 'Prompt', align: 'right' },
        { title: 'Response', align: 'right' },
        { title: 'Status', wrap: true },
      ],
      chosen.map((sample) => [
        sample.call,
        sample.advantage === null ? '-' : sample.advantage.toFixed(3),
        sample.u === null ? '-' : sample.u.toFixed(3),
        sample.promptLength === null ? '-' : whole(sample.promptLength),
        sample.responseLength === null ? '-' : whole(sample.responseLength),
        sample.status,
      ]),
    ),
  );
  if (chosen.length < matching)
    terminal.out(terminal.paint.dim(`${plural(matching - chosen.length, 'more sample')}: --limit 0 shows all`));
}

/** @throws CommandError when no status begins so. */
function checkStatus(status: string): void {
  const all = Object.values(STATUS);
  if (status !== '' && all.some((known) => known.startsWith(status))) return;
  const near = nearest(status, [...new Set(all.flatMap((known) => [known, known.split(':')[0]]))]);
  throw new CommandError(
    `no status begins with "${status}"${near ? `; did you mean "${near}"?` : ''}; statuses are ${all.join(', ')}`,
  );
}

async function lastRound(recording: Recording): Promise<number> {
  const { rounds } = await recording.sections();
  for (const name of rounds.toReversed()) {
    const round = Number(name.split('/')[1]);
    if ((await recording.samples(round)).length > 0) return round;
  }
  return rounds.length > 0 ? Number(rounds.at(-1)?.split('/')[1]) : 1;
}
