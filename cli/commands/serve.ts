/** `serve CHECKPOINT`: a planner behind an OpenAI-compatible endpoint on this machine, until Ctrl-C. */
import { basename, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../exit.ts';
import { untilInterrupted } from '../interrupts.ts';
import { plural } from '../output/format.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseCount } from './train.ts';

interface ServeArguments {
  port: number;
  model?: string;
  threads?: number;
  maxBatch?: number;
  deterministic?: boolean;
  apiKeyEnvironment?: string;
  json?: boolean;
}

export function parsePort(text: string): number {
  const port = parseCount(text);
  if (port > 65535) throw new InvalidArgumentError('a port is at most 65535');
  return port;
}

export function parsePositive(text: string): number {
  const count = parseCount(text);
  if (count === 0) throw new InvalidArgumentError('it must be at least 1');
  return count;
}

export function serveCommand(terminal: Terminal): Command {
  return new Command('serve')
    .description('serve a planner: OpenAI-compatible chat completions with token ids and log-probs')
    .argument('<checkpoint>', 'Hugging Face folder, for example runs/demo/policies/v0001')
    .option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', parsePort, 0)
    .option('--model <name>', "model name that clients ask for (default: the folder's name)")
    .option('--threads <n>', 'threads of the numeric runtime', parsePositive)
    .option('--max-batch <n>', 'responses sampled at a time', parsePositive)
    .option('--deterministic', 'results independent of timing and of other requests')
    .option('--api-key-environment <variable>', 'ask for the key that this environment variable holds')
    .option('--json', 'print the address as one JSON line')
    .action(async (checkpoint: string, options: ServeArguments) => {
      const variable = options.apiKeyEnvironment;
      const apiKey = variable === undefined ? undefined : process.env[variable];
      if (variable !== undefined && !apiKey) throw new CommandError(`the environment variable ${variable} is not set`);
      const folder = resolve(checkpoint);
      const { startPlannerServer } = await import('../../trainer-daemon/planner/serving/server.ts');
      const server = await startPlannerServer({
        checkpoint: folder,
        policyVersion: 0,
        modelName: options.model ?? basename(folder),
        port: options.port,
        threads: options.threads,
        maxBatch: options.maxBatch,
        deterministic: options.deterministic,
        apiKey,
      }).catch((error: Error) => {
        throw new CommandError(error.message);
      });
      const interrupted = untilInterrupted();
      try {
        for (const warning of server.warnings) terminal.err(`${terminal.paintErr.yellow('warning')}: ${warning}`);
        const { parameters, context, maxBatch } = await server.stats();
        if (options.json)
          terminal.out(jsonText({ url: server.url, model: server.modelName, parameters, context, maxBatch }));
        else {
          terminal.out(`serving ${server.modelName} at ${terminal.paint.bold(server.url)}`);
          terminal.out(
            `${(parameters / 1e6).toFixed(1)} million parameters, context ${context} tokens, ${plural(maxBatch, 'response')} at a time`,
          );
          terminal.out('it reads text only: images are shown to it as a placeholder; Ctrl-C ends it');
        }
        await interrupted;
      } finally {
        await server.close();
      }
    });
}
