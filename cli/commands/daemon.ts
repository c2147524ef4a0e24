/** `daemon`: the workspace's daemon in the foreground, for editors that attach to it and for machines without one. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { type DaemonReadyLine, daemonReadyLineSchema } from '../../protocol/daemon.ts';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import { CommandError, EXIT } from '../exit.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { parsePositive } from './serve.ts';

interface DaemonArguments {
  idleSeconds?: number;
  json?: boolean;
}

/** Far more than a day of waiting; whoever starts it by hand ends it by hand. */
const UNTIL_ENDED = 1_000_000;

export function daemonCommand(terminal: Terminal): Command {
  return new Command('daemon')
    .description("run the trainer daemon of a workspace, which the editor's windows share, until Ctrl-C")
    .argument('[workspace]', 'workspace folder', '.')
    .option('--idle-seconds <n>', 'leave by itself after this time without clients and runs', parsePositive)
    .option('--json', 'print its ready line as JSON')
    .addHelpText(
      'after',
      '\nIt listens on 127.0.0.1 alone and asks for a token that only your user can read.\nEditors find and start it by themselves; this command keeps it in a terminal.',
    )
    .action(async (workspace: string, options: DaemonArguments) => {
      const idle = String(options.idleSeconds ?? UNTIL_ENDED);
      const child = spawn(
        process.execPath,
        [bundlePath('daemon'), '--workspace', resolve(workspace), '--idle-seconds', idle, '--with-parent'],
        // A group of its own: it gets each signal once, from here.
        { stdio: ['ignore', 'pipe', 'inherit'], detached: process.platform !== 'win32' },
      );
      let handed = false;
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
        process.on(signal, () => {
          if (!handed) terminal.err('ending; a run at work is stopped so that it can be resumed');
          handed = true;
          child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
        });
      let problem: string | undefined;
      const ended = new Promise<number>((settle, refuse) => {
        child.once('error', refuse);
        child.once('close', (code, signal) => settle(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
      });
      let text = '';
      let told = false;
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        const end = text.indexOf('\n');
        if (told || end < 0) return;
        told = true;
        const line = daemonReadyLineSchema.parse(JSON.parse(text.slice(0, end)));
        if (options.json) terminal.out(jsonText(line));
        else if (line.type === 'ready') announce(terminal, line);
        if (line.type !== 'ready') problem = sentence(line);
      });
      const code = await ended;
      if (problem !== undefined) throw new CommandError(problem, EXIT.failed);
      if (code !== 0 && !handed) throw new CommandError(`the daemon ended with exit code ${code}`, EXIT.failed);
    });
}

function announce(terminal: Terminal, line: Extract<DaemonReadyLine, { type: 'ready' }>): void {
  terminal.out(`daemon ${line.version} of ${terminal.paint.bold(line.workspace)}`);
  terminal.out(`process ${line.pid}, 127.0.0.1:${line.port}, protocol ${line.protocol}`);
  terminal.out(`log: ${line.log}`);
  terminal.out('Ctrl-C ends it');
}

function sentence(line: Exclude<DaemonReadyLine, { type: 'ready' }>): string {
  return line.type === 'failed' ? line.message : `${line.workspace} has a daemon already: ${line.holder}`;
}
