/** The debug adapter as a program of its own, over standard input and output, for editors other than VS Code. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ReplaySession } from '../session.ts';
import { ReplayDebugAdapter } from './adapter.ts';
import { english } from './host.ts';

const log = (text: string) => process.stderr.write(`${text}\n`);

class Program extends ReplayDebugAdapter {
  /** Once the client has been answered that it is let go of. */
  override shutdown(): void {
    setTimeout(() => process.exit(0), 100);
  }
}

const adapter = new Program({
  open: (target) => ReplaySession.open(target, log),
  release: (session) => session.close(),
  resolveRun: (run) => (existsSync(resolve('runs', run, 'run.json')) ? resolve('runs', run) : resolve(run)),
  folders: () => [process.cwd()],
  documents: false,
  language: english,
  log,
});

// Everything but the protocol goes to standard error, as a stray line would end the conversation.
console.log = log;
adapter.start(process.stdin, process.stdout);
for (const end of ['end', 'close'] as const) {
  process.stdin.on(end, () => void adapter.release().finally(() => process.exit(0)));
}
process.stdout.on('error', () => process.exit(0));
