/** `doctor`: whether this machine has what the product needs, and how to get what it lacks. */
import { Argument, Command, Option } from 'commander';
import { type Check, runChecks } from '../doctor/checks.ts';
import { PROBE_COMMAND, PROBES, type Probe, runProbe } from '../doctor/probes.ts';
import { runUpstreamChecks, type UpstreamCheckOptions, upstreamVerdict } from '../doctor/upstream.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { wrap } from '../output/wrap.ts';

type DoctorOptions = Omit<UpstreamCheckOptions, 'upstream'> & { upstream?: string; json?: boolean };

export function doctorCommand(terminal: Terminal): Command {
  return new Command('doctor')
    .description('check this machine: what works, what is missing and how to get it')
    .option('--upstream <url>', 'check a server instead: whether its calls can be trained on')
    .addOption(
      new Option('--upstream-kind <kind>', 'what the server is; auto asks it')
        .choices(['auto', 'embedded', 'vllm', 'sglang', 'llamacpp', 'openai'])
        .default('auto'),
    )
    .option('--model <name>', 'model to ask it for; the first one it lists by default')
    .option('--checkpoint <dir>', 'checkpoint whose chat template it must serve')
    .option('--api-key-environment <variable>', "environment variable that holds the server's key")
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExit code 1 when something needed does not work.')
    .action(async (options: DoctorOptions) => {
      const checks =
        options.upstream === undefined
          ? await runChecks(process.cwd())
          : await runUpstreamChecks({ ...options, upstream: options.upstream });
      const ok = checks.every((check) => check.state !== 'error');
      if (!ok) terminal.exitCode = EXIT.failed;
      if (options.json) {
        const verdict = options.upstream === undefined ? {} : { verdict: upstreamVerdict(checks) };
        terminal.out(jsonText({ ok, ...verdict, checks }, 2));
        return;
      }
      const width = Math.max(...checks.map((check) => check.name.length));
      for (const check of checks) terminal.out(checkLines(check, width, terminal));
      if (options.upstream !== undefined) {
        const { trainable, text } = upstreamVerdict(checks);
        terminal.out(terminal.paint[trainable === true ? 'green' : trainable === false ? 'red' : 'yellow'](text));
      } else if (ok) terminal.out(terminal.paint.green('everything needed works'));
      else terminal.out(terminal.paint.red('something needed does not work'));
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
    terminal.out(`probe: ${jsonText(await runProbe(name))}`);
  });
}
