/** `proxy`: records what a harness asks of a server, with no run around it, until Ctrl-C. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Upstream, UpstreamKind } from '../../trainer-daemon/proxy/index.ts';
import { CommandError } from '../exit.ts';
import { untilInterrupted } from '../interrupts.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { type Door, environmentOf, tellAddresses, tellEnvironment } from '../recording/announcement.ts';
import { closeRemotely, openRemotely } from '../recording/control.ts';
import { parsePort, parsePositive } from './serve.ts';

const KINDS = ['auto', 'vllm', 'sglang', 'llamacpp', 'embedded', 'openai'] as const;

const severalConnections = (agent: string) =>
  `two connections ${agent === '' ? 'without a user-agent' : `of ${JSON.stringify(agent.slice(0, 60))}`} are open at a time. If they are two harnesses, all is well; if they are one (the OpenAI and Anthropic clients keep several connections), its calls are spread over several episodes: record with --new-episode-per never and open an episode for each harness with --open-episode`;

interface ProxyArguments {
  upstream?: string;
  model?: string;
  record: string;
  openEpisode?: true;
  closeEpisode?: string;
  upstreamKind: UpstreamKind | 'auto';
  newEpisodePer: 'connection' | 'never';
  apiKeyEnvironment?: string;
  port: number;
  temperature: number;
  topP: number;
  topK: number;
  presencePenalty: number;
  responseTokens: number;
  onUpstreamFailure: 'pass' | 'fail-fast';
  silenceSeconds: number;
  bodyLimit: number;
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
    .option('--upstream <url>', "base URL of the planner's OpenAI-compatible server")
    .option('--model <name>', 'model name to ask it for; the first one it lists by default')
    .requiredOption('--record <dir>', 'new run directory to write to')
    .addOption(new Option('--upstream-kind <kind>', 'what the server is; auto asks it').choices(KINDS).default('auto'))
    .option('--open-episode', 'open a further episode of the proxy that records into DIR now, and print its key')
    .option('--close-episode <key>', 'end an episode of that proxy')
    .addOption(
      new Option(
        '--new-episode-per <what>',
        'when a new episode begins; connection is for harnesses that keep one connection for all their calls (the OpenAI and Anthropic clients keep several)',
      )
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
    .addOption(
      new Option(
        '--on-upstream-failure <manner>',
        "what the harness gets when the server fails: its error, or one that stops the harness's repeating (424; CaP-X needs it)",
      )
        .choices(['pass', 'fail-fast'])
        .default('pass'),
    )
    .option(
      '--silence-seconds <n>',
      'a call to which the server says nothing for so long has failed',
      parsePositive,
      1800,
    )
    .option('--body-limit <MB>', 'largest request in MB (a history of many images is large)', parseNumber(1, 1000), 32)
    .option('--json', 'JSON Lines: the address, every call, the summary')
    .addHelpText('after', '\nWhat the harness asks is recorded beside what was sent.\nCtrl-C ends the recording.')
    .action(async (options: ProxyArguments) => {
      if (options.openEpisode || options.closeEpisode !== undefined) return atRunningProxy(terminal, options);
      if (options.upstream === undefined) throw new CommandError('name the server to record with --upstream URL');
      return record(terminal, options, options.upstream);
    });
}

/** `--open-episode` and `--close-episode`. */
async function atRunningProxy(terminal: Terminal, options: ProxyArguments): Promise<void> {
  const directory = resolve(options.record);
  const asUsage = (error: Error): never => {
    throw new CommandError(error.message);
  };
  if (options.closeEpisode !== undefined) await closeRemotely(directory, options.closeEpisode).catch(asUsage);
  if (!options.openEpisode) return;
  const opened = await openRemotely(directory).catch(asUsage);
  if (options.json) terminal.out(jsonText({ kind: 'episode', ...opened }));
  else tellEnvironment(terminal, opened, opened.model);
}

async function record(terminal: Terminal, options: ProxyArguments, url: string): Promise<void> {
  const variable = options.apiKeyEnvironment;
  const apiKey = variable === undefined ? null : (process.env[variable] ?? '');
  if (apiKey === '') throw new CommandError(`the environment variable ${variable} is not set`);
  const { createUpstream, detectUpstream, startProxy } = await import('../../trainer-daemon/proxy/index.ts');
  const { Control } = await import('../recording/control.ts');
  const { Tally } = await import('../recording/tally.ts');
  const { ManualRun } = await import('../recording/manual-run.ts');
  const { ConnectionFront } = await import('../recording/connection-front.ts');
  const asUsage = (error: Error): never => {
    throw new CommandError(error.message);
  };
  let upstream: Upstream;
  let evidence: string | null = null;
  try {
    let kind = options.upstreamKind;
    let model = options.model;
    let policyVersion: number | null = null;
    let vocabulary: number | null = null;
    if (kind === 'auto' || kind === 'embedded' || model === undefined) {
      const detected = await detectUpstream(url, apiKey).catch((error: Error) => {
        throw new Error(`${error.message}; is it running? A server without a list needs --upstream-kind and --model`);
      });
      if (kind === 'auto') {
        kind = detected.kind;
        evidence = detected.evidence;
      }
      model ??= detected.models[0] ?? '';
      ({ policyVersion, vocabulary } = detected);
    }
    upstream = createUpstream({
      kind,
      url,
      model,
      apiKey,
      policyVersion: () => policyVersion,
      vocabulary,
    });
  } catch (error) {
    return asUsage(error as Error);
  }
  const bodyLimit = Math.floor(options.bodyLimit * 1024 * 1024);
  const perConnection = options.newEpisodePer === 'connection';
  const told = new Tally(terminal, options.json === true);
  const proxy = await startProxy({
    port: perConnection ? 0 : options.port,
    bodyLimit,
    onNotice: (text) => told.notice(text),
  }).catch(asUsage);
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
      onUpstreamFailure: options.onUpstreamFailure,
      silenceSeconds: options.silenceSeconds,
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
        bodyLimit,
        onSeveral: (agent) => told.warn(severalConnections(agent)),
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
  const run = await ManualRun.create(directory, {
    kind: upstream.name,
    url: upstream.url,
    model: upstream.model,
  }).catch(async (error: Error) => {
    await front?.close();
    await proxy.close();
    return asUsage(error);
  });
  const always = perConnection ? undefined : open();
  /** Episodes opened from another terminal, by key. */
  const further = new Map<string, ReturnType<typeof open>>();
  const control = await Control.start({
    directory,
    open() {
      const opened = open();
      further.set(opened.episode.key, opened);
      // Under this address it is reached past the door that makes every connection an episode.
      const { id, key, baseUrl } = opened.episode;
      return { id, key, baseUrl, model: upstream.model };
    },
    async close(key) {
      const opened = further.get(key) ?? (always?.episode.key === key ? always : undefined);
      further.delete(key);
      await opened?.end();
      return opened !== undefined;
    },
  });
  const baseUrl = front?.baseUrl ?? `${proxy.url}/v1`;
  const key = front?.key ?? always?.episode.key ?? '';
  // Listened for before anybody is told that it works: whoever reads the address may end it at once.
  const interrupted = untilInterrupted();
  let ended: PromiseSettledResult<void>[] = [];
  announce(terminal, options, { baseUrl, key, directory, upstream, evidence });
  try {
    await interrupted;
  } finally {
    await control.close();
    await front?.close();
    for (const opened of always ? [always, ...further.values()] : further.values()) opened.end().catch(() => {});
    // Connections that were just closed finish their episodes.
    await new Promise((done) => setImmediate(done));
    ended = await Promise.allSettled(finishing);
    await proxy.close();
    await run.store.close();
  }
  told.summary(directory);
  // A disk may be full still: the summary has told what is lost, and this says where.
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

function announce(
  terminal: Terminal,
  options: ProxyArguments,
  at: Door & { directory: string; upstream: Upstream; evidence: string | null },
): void {
  const { model } = at.upstream;
  if (options.json) {
    terminal.out(
      jsonText({
        kind: 'listening',
        baseUrl: at.baseUrl,
        apiKey: at.key,
        model,
        upstream: at.upstream.name,
        directory: at.directory,
        environment: environmentOf(at, model),
      }),
    );
    return;
  }
  const told = at.evidence === null ? '' : `; ${at.evidence}`;
  terminal.out(`recording calls to ${at.upstream.url} (${at.upstream.client.title}${told}) in ${at.directory}\n`);
  tellAddresses(terminal, at);
  tellEnvironment(terminal, at, model);
  terminal.out(
    options.newEpisodePer === 'connection'
      ? 'every connection is an episode of its own: for harnesses that keep one connection for all their calls'
      : `all calls belong to one episode; the next one: proxy --open-episode --record ${options.record}`,
  );
  if (!at.upstream.capturesTokens)
    terminal.out('this kind of server gives no token ids: the calls can be read and replayed, not trained on');
  terminal.out('Ctrl-C ends the recording');
}
