/** What `train --dry-run` prints. */
import type { Stage } from '../../protocol/journal.ts';
import type { RunForecast } from '../../trainer-daemon/training/contract.ts';
import { bytes, plural, whole } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { wrap } from '../output/wrap.ts';

/** Stages that were not asked for are left out. */
export function showForecast(
  terminal: Terminal,
  forecast: RunForecast,
  options: { json?: boolean; stages?: Stage[] },
): void {
  const rows = forecast.rows.filter((row) => !options.stages || (options.stages as string[]).includes(row.stage));
  if (options.json) {
    terminal.out(JSON.stringify({ ...forecast, rows }, null, 2));
    return;
  }
  const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
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
          whole(row.episodes),
          whole(row.calls),
          whole(row.optimizerSteps),
          bytes(row.diskBytes),
          row.note,
        ]),
        [
          'all',
          whole(sum((row) => row.episodes)),
          whole(sum((row) => row.calls)),
          whole(sum((row) => row.optimizerSteps)),
          bytes(sum((row) => row.diskBytes)),
          '',
        ],
      ],
    ),
  );
}
