/** `proxy`: records what a harness asks of a server, with no run around it, until Ctrl-C. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CallRecord } from '../../protocol/records.ts';
import type { ProxyEpisode, Upstream } from '../../trainer-daemon/proxy/index.ts';
import { CommandError } from '../exit.ts';
import { untilInterrupted } from '../interrupts.ts';
import { plural } from '../output/format.ts';
import type { Terminal } from '../output/terminal.ts';
import { parsePort, parsePositive } from './serve.ts';

const KINDS = ['vllm', 'openai', 'embedded'] as const;

interface ProxyArguments {
  upstream: string;
  model: string;
  record: string;
  kind: (typeof KINDS)[number];
  newEpisodePer: 'connection' | 'never';
  apiKeyEnvironment?: string;
  port: number;
  temperature: number;
  topP: number;
  topK: number;
  presencePenalty: number;
  responseTokens: number;
  json?: boolean;
}

const parseNumber = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most))
    throw new InvalidArgumentError(`it must be a number from ${least} to ${most}`);
  return value;
};

export function proxyCommand(terminal: Terminal): Command {
  return new Command('proxy')
    .description('record the calls of a harness you start yourself')
    .requiredOption('--upstream <url>', "base URL of the planner's OpenAI-compatible server")
    .requiredOption('--model <name>', 'model name to ask it for')
    .requiredOption('--record <dir>', 'new run directory to write to')
    .addOption(new Option('--kind <kind>', 'what the server is; vllm gives token ids').choices(KINDS).default('openai'))
    .addOption(
      new Option('--new-episode-per <what>', 'when a new episode begins')
        .choices(['connection', 'never'])
        .default('never'),
    )
    .option('--api-key-environment <variable>', "environment variable that holds the server's key")
    .option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', parsePort, 0)
    .option('--temperature <t>', 'sampling sent to the server, whatever the harness asks', parseNumber(0, 5), 1)
    .option('--top-p <p>', 'the same', parseNumber(0, 1), 1)
    .option('--top-k <k>', 'the same; -1 for none', parseNumber(-1, 1e6), -1)
    .option('--presence-penalty <p>', 'the same', parseNumber(-2, 2), 0)
    .option('--response-tokens <n>', 'longest response', parsePositive, 4096)
    .option('--json', 'JSON Lines: the address, every call, the summary')
    .addHelpText('after', '\nWhat the harness asks is recorded beside what was sent. Ctrl-C ends the recording.')
    .action(async (options: ProxyArguments) => record(terminal, options));
}

async function record(terminal: Terminal, options: ProxyArguments): Promise<void> {
  const variable = options.apiKeyEnvironment;
  const apiKey = variable === undefined ? null : (process.env[variable] ?? '');
  if (apiKey === '') throw new CommandError(`the environment variable ${variable} is not set`);
  const { createUpstream, startProxy } = await import('../../trainer-daemon/proxy/index.ts');
  const { ManualRun } = await import('../recording/manual-run.ts');
  const { ConnectionFront } = await import('../recording/connection-front.ts');
  const asUsage = (error: Error): never => {
    throw new CommandError(error.message);
  };
  let upstream: Upstream;
  try {
    upstream = createUpstream({
      kind: options.kind,
      url: options.upstream,
      model: options.model,
      apiKey,
      policyVersion: () => null,
    });
  } catch (error) {
    return asUsage(error as Error);
  }
  const perConnection = options.newEpisodePer === 'connection';
  const proxy = await startProxy({ port: perConnection ? 0 : options.port }).catch(asUsage);
  const told = new Tally(terminal, options.json === true);
  const finishing = new Set<Promise<void>>();
  const open = () => {
    const { id, init } = run.nextEpisode();
    const startedAt = new Date();
    const episode = proxy.openEpisode({
      id,
      role: 'evaluation',
      upstream,
      sampling: {
        temperature: options.temperature,
        topP: options.topP,
        topK: options.topK,
        presencePenalty: options.presencePenalty,
      },
      responseTokens: options.responseTokens,
      turns: Number.MAX_SAFE_INTEGER,
      sink: run.section,
      onUpstreamFailure: 'pass',
    });
    told.watch(episode);
    let ended: Promise<void> | undefined;
    const end = () => {
      ended ??= episode.close('done').then(async () => {
        await run.finish(episode, init, startedAt);
      });
      finishing.add(ended);
      return ended;
    };
    return { episode, end };
  };

  // The addresses first: where one is taken, no run directory is left behind.
  const front = perConnection
    ? await ConnectionFront.start({
        port: options.port,
        open() {
          const { episode, end } = open();
          return {
            baseUrl: episode.baseUrl,
            ended: () => {
              end().catch((error: Error) => terminal.err(`${terminal.paintErr.red('error')}: ${error.message}`));
            },
          };
        },
      }).catch(async (error: Error) => {
        await proxy.close();
        return asUsage(error);
      })
    : undefined;
  const directory = resolve(options.record);
  const run = await ManualRun.create(directory, { kind: options.kind, url: upstream.url, model: options.model }).catch(
    async (error: Error) => {
      await front?.close();
      await proxy.close();
      return asUsage(error);
    },
  );
  const always = perConnection ? undefined : open();
  const baseUrl = front?.baseUrl ?? `${proxy.url}/v1`;
  const key = front?.key ?? always?.episode.key ?? '';
  // Listened for before anybody is told that it works: whoever reads the address may end it at once.
  const interrupted = untilInterrupted();
  announce(terminal, options, { baseUrl, key, directory, upstream });
  try {
    await interrupted;
  } finally {
    await front?.close();
    await always?.end();
    // Connections that were just closed finish their episodes.
    await new Promise((done) => setImmediate(done));
    await Promise.allSettled(finishing);
    await proxy.close();
    await run.store.close();
  }
  told.summary(directory);
}

function announce(
  terminal: Terminal,
  options: ProxyArguments,
  at: { baseUrl: string; key: string; directory: string; upstream: Upstream },
): void {
  if (options.json) {
    terminal.out(
      JSON.stringify({
        kind: 'listening',
        baseUrl: at.baseUrl,
        apiKey: at.key,
        model: options.model,
        directory: at.directory,
      }),
    );
    return;
  }
  const { paint } = terminal;
  terminal.out(`recording calls to ${at.upstream.url} (${options.kind}) in ${at.directory}\n`);
  terminal.out(
    paint.bold(
      `export OPENAI_BASE_URL=${at.baseUrl}\nexport OPENAI_API_KEY=${at.key}\nexport OPENAI_MODEL=${options.model}\n`,
    ),
  );
  terminal.out(
    options.newEpisodePer === 'connection'
      ? 'every connection is an episode of its own'
      : 'all calls belong to one episode; start again for the next one',
  );
  if (!at.upstream.capturesTokens)
    terminal.out('this kind of server gives no token ids: the calls can be read and replayed, not trained on');
  terminal.out('Ctrl-C ends the recording');
}

/** Counts calls, and tells each one without a word of its content. */
class Tally {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #episodes: ProxyEpisode[] = [];

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  watch(episode: ProxyEpisode): void {
    const number = this.#episodes.push(episode);
    let seen = 0;
    episode.onChange = () => {
      for (; seen < episode.calls.length; seen++) {
        const { id, turn, status, finishReason } = episode.calls[seen];
        if (this.#json)
          this.#terminal.out(JSON.stringify({ kind: 'call', id, episode: episode.id, turn, status, finishReason }));
        else {
          const { calls } = this.#counts();
          this.#terminal.out(
            `episode ${number}, turn ${turn}: ${status}${finishReason ? ` (${finishReason})` : ''}; ${plural(calls, 'call')} in all`,
          );
        }
      }
    };
  }

  #counts(): {
    episodes: number;
    calls: number;
    lost: number;
    byStatus: Partial<Record<CallRecord['status'], number>>;
  } {
    const byStatus: Partial<Record<CallRecord['status'], number>> = {};
    for (const episode of this.#episodes)
      for (const { status } of episode.calls) byStatus[status] = (byStatus[status] ?? 0) + 1;
    return {
      episodes: this.#episodes.length,
      calls: this.#episodes.reduce((sum, episode) => sum + episode.calls.length, 0),
      lost: this.#episodes.reduce((sum, episode) => sum + episode.lostCalls, 0),
      byStatus,
    };
  }

  summary(directory: string): void {
    const counts = this.#counts();
    if (this.#json) {
      this.#terminal.out(JSON.stringify({ kind: 'summary', directory, ...counts }));
      return;
    }
    const parts = Object.entries(counts.byStatus).map(([status, count]) => `${count} ${status}`);
    this.#terminal.out(
      `\n${plural(counts.episodes, 'episode')}, ${plural(counts.calls, 'call')}${parts.length > 0 ? ` (${parts.join(', ')})` : ''} in ${directory}`,
    );
    if (counts.lost > 0) this.#terminal.err(`${plural(counts.lost, 'call')} could not be recorded`);
  }
}
