/** `stop RUN`: asks whoever writes a run to end it so that it can be resumed, and waits until it has ended. */
import { Command, Option } from 'commander';
import { readStopRequest, requestStop, runWriter } from '../../trainer-daemon/store/index.ts';
import { resumeCommand } from '../../trainer-daemon/training/resume-command.ts';
import { CommandError } from '../exit.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { resolveRun } from '../run-argument.ts';

interface StopArguments {
  after: 'episode' | 'round';
  now?: boolean;
  wait: boolean;
  json?: boolean;
}

const LOOK_MS = 200;
/** Without a word of the writer for this long it is said that it may not listen. */
const PATIENCE_MS = 15_000;
/** Whoever ends takes the wish away first, and lets go of the run a moment later. */
const LETTING_GO_MS = 10_000;

export function stopCommand(terminal: Terminal): Command {
  return new Command('stop')
    .description('end a run that another terminal or the daemon trains; it can be resumed')
    .argument('<run>', 'run directory, or its name in runs/')
    .addOption(new Option('--after <what>', 'let this finish first').choices(['episode', 'round']).default('episode'))
    .option('--now', 'end running episodes, which are played again on resume')
    .option('--no-wait', 'do not wait for its end')
    .option('--json', 'print one JSON document')
    .action(async (named: string, options: StopArguments) => {
      const directory = resolveRun(named);
      const mode = options.now ? 'now' : options.after;
      const writer = await runWriter(directory);
      if (writer === undefined)
        throw new CommandError(`${directory}: nobody writes this run; there is nothing to stop`);
      await requestStop(directory, mode);
      const waits = mode === 'now' ? 'now' : `after the running ${mode}${mode === 'episode' ? 's' : ''}`;
      if (!options.json) terminal.err(`asked ${writer} to stop ${waits}`);
      if (options.wait) await untilEnded(terminal, directory, writer);
      const ended = (await runWriter(directory)) !== writer;
      if (options.json) terminal.out(jsonText({ directory, mode, ended }));
      else if (ended) terminal.err(`stopped; to go on: ${terminal.paintErr.bold(resumeCommand(directory))}`);
    });
}

async function untilEnded(terminal: Terminal, directory: string, writer: string): Promise<void> {
  const started = performance.now();
  let taken: number | undefined;
  let told = false;
  while ((await runWriter(directory)) === writer) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = performance.now();
    if ((await readStopRequest(directory)) === undefined) taken ??= now;
    if (taken !== undefined && now - taken > LETTING_GO_MS) return;
    if (told || taken !== undefined || now - started < PATIENCE_MS) continue;
    told = true;
    terminal.err('waiting for what is running; Ctrl-C leaves it to itself, --now does not wait for it');
  }
}
