/** What `train --dry-run` prints. */
import { statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Stage } from '../../protocol/journal.ts';
import type { RunForecast } from '../../trainer-daemon/training/contract.ts';
import { approximate, bytes, plural } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { wrap } from '../output/wrap.ts';

/** Stages that were not asked for are left out. */
export function showForecast(
  terminal: Terminal,
  forecast: RunForecast,
  options: { json?: boolean; stages?: Stage[]; run?: string },
): void {
  const rows = forecast.rows.filter((row) => !options.stages || (options.stages as string[]).includes(row.stage));
  const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const warnings = diskWarning(
    sum((row) => row.diskBytes),
    resolve(options.run ?? 'runs'),
  );
  for (const warning of warnings) terminal.err(`${terminal.paintErr.yellow('warning')}: ${warning}`);
  if (options.json) {
    terminal.out(jsonText({ ...forecast, rows, warnings }, 2));
    return;
  }
  terminal.out(
    wrap(`${plural(forecast.tasks, 'task')} of ${forecast.suites.join(', ')}; nothing is written.`, terminal.columns),
  );
  terminal.out(
    table(
      terminal,
      [
        { title: 'Stage' },
        { title: 'Episodes', align: 'right' },
        { title: 'Calls at most', align: 'right' },
        { title: 'Steps', align: 'right' },
        { title: 'Disk', align: 'right' },
        { title: 'Note', wrap: true },
      ],
      [
        ...rows.map((row) => [
          row.stage,
          approximate(row.episodes),
          approximate(row.calls),
          approximate(row.optimizerSteps),
          bytes(row.diskBytes),
          row.note,
        ]),
        [
          'all',
          approximate(sum((row) => row.episodes)),
          approximate(sum((row) => row.calls)),
          approximate(sum((row) => row.optimizerSteps)),
          bytes(sum((row) => row.diskBytes)),
          '',
        ],
      ],
    ),
  );
}

/** A sentence when a run needs more than is free where it would lie. */
function diskWarning(needed: number, directory: string): string[] {
  for (let place = directory; ; place = dirname(place)) {
    try {
      const { bavail, bsize } = statfsSync(place);
      const free = bavail * bsize;
      return needed > free
        ? [
            `the run needs about ${bytes(needed)} of disk, and ${bytes(free)} are free at ${place}; name another place with --run`,
          ]
        : [];
    } catch {
      // The folder is not there yet, or its file system does not tell.
      if (dirname(place) === place) return [];
    }
  }
}
