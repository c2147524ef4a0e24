/** `doctor`: whether this machine has what the product needs, and how to get what it lacks. */
import { Argument, Command } from 'commander';
import { type Check, runChecks } from '../doctor/checks.ts';
import { PROBE_COMMAND, PROBES, type Probe, runProbe } from '../doctor/probes.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { wrap } from '../output/wrap.ts';

export function doctorCommand(terminal: Terminal): Command {
  return new Command('doctor')
    .description('check this machine: what works, what is missing and how to get it')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExit code 1 when something needed does not work.')
    .action(async (options: { json?: boolean }) => {
      const checks = await runChecks(process.cwd());
      const ok = checks.every((check) => check.state !== 'error');
      if (!ok) terminal.exitCode = EXIT.failed;
      if (options.json) {
        terminal.out(JSON.stringify({ ok, checks }, null, 2));
        return;
      }
      const width = Math.max(...checks.map((check) => check.name.length));
      for (const check of checks) terminal.out(checkLines(check, width, terminal));
      terminal.out(
        ok ? terminal.paint.green('everything needed works') : terminal.paint.red('something needed does not work'),
      );
    });
}

function checkLines(check: Check, width: number, { paint, columns }: Terminal): string {
  const mark = {
    ok: paint.green('ok     '),
    warning: paint.yellow('warning'),
    missing: paint.dim('missing'),
    error: paint.red('error  '),
  };
  const indent = 'warning  '.length + width + 2;
  const text = wrap(check.detail, columns - indent, indent, 'keep');
  const advice = check.advice
    ? `\n${' '.repeat(indent)}${wrap(`-> ${check.advice}`, columns - indent, indent, 'keep')}`
    : '';
  return `${mark[check.state]}  ${check.name.padEnd(width)}  ${text}${advice}`;
}

/** The hidden command that a probe's process runs. */
export function doctorProbeCommand(terminal: Terminal): Command {
  return new Command(PROBE_COMMAND).addArgument(new Argument('<probe>').choices(PROBES)).action(async (name: Probe) => {
    terminal.out(`probe: ${JSON.stringify(await runProbe(name))}`);
  });
}
