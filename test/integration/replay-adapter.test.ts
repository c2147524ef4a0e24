/** The debug adapter as a program of its own, on a run that was really trained. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { EpisodeRecord, SampleRecord, ScoreRecord } from '../../protocol/records.ts';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import { train } from '../../trainer-daemon/training/index.ts';
import { filesOf, quick, quickConfig } from './quick-run.ts';

let folder: string;
let run: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl replay ü-'));
  run = join(folder, 'runs', 'one');
  const rl = { ...quickConfig.rl, passes: 2, groupsPerRound: 2, attemptsPerGroup: 3 };
  await train({ config: quick({ rl, evaluation: { states: [1] } }), configFolder: folder, runDirectory: run });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = <T>(name: string): T[] =>
  readFileSync(join(run, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

const running = new Set<DebugClient>();

/** Ends a client, once: a program that was let go of answers nothing more. */
async function letGo(client: DebugClient): Promise<void> {
  if (running.delete(client)) await client.stop();
}

async function start(): Promise<DebugClient> {
  const client = new DebugClient('node', bundlePath('replay-adapter'), 'planner-replay', { cwd: folder });
  client.defaultTimeout = 20_000;
  await client.start();
  running.add(client);
  onTestFinished(() => letGo(client));
  return client;
}

/** Launches, and waits until it stands at the start. */
async function launch(client: DebugClient, args: object): Promise<void> {
  const stopped = client.waitForEvent('stopped');
  await Promise.all([client.configurationSequence(), client.launch(args), stopped]);
}

/** Sends a request that moves. @returns whether it could. */
async function move(client: DebugClient, command: string, threadId: number): Promise<boolean> {
  const stopped = client.waitForEvent('stopped');
  await client.send(command, { threadId });
  return ((await stopped) as Dap.StoppedEvent).body.description === undefined;
}

async function valuesOf(client: DebugClient, scope: string, threadId: number): Promise<Map<string, Dap.Variable>> {
  const [frame] = (await client.stackTraceRequest({ threadId })).body.stackFrames;
  const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
  const { variablesReference } = scopes.find(({ name }) => name === scope) as Dap.Scope;
  const { variables } = (await client.variablesRequest({ variablesReference })).body;
  return new Map(variables.map((variable) => [variable.name, variable]));
}

it('shows the numbers of samples.jsonl and scores.jsonl at every call of a round', async () => {
  const samples = new Map(linesOf<SampleRecord>('rounds/0001/samples.jsonl').map((sample) => [sample.call, sample]));
  const scores = linesOf<ScoreRecord>('rounds/0001/scores.jsonl');
  const episodes = linesOf<EpisodeRecord>('rounds/0001/episodes.jsonl');
  expect(samples.size).toBeGreaterThan(4);
  const before = filesOf(run);
  const seen = new Set<string>();
  for (const { id, turns, reward } of episodes) {
    const client = await start();
    await launch(client, { run: 'one', episode: id });
    for (let turn = 0; turn < turns; turn++) {
      const call = JSON.parse((await valuesOf(client, 'Context', 1)).get('id')?.value as string) as string;
      const sample = samples.get(call) as SampleRecord;
      const credit = await valuesOf(client, 'Credit', 1);
      expect(['advantage', 'u', 'L', 'status'].map((name) => credit.get(name)?.value)).toEqual(
        [sample.advantage, sample.u, sample.responseLength, sample.status].map((value) => JSON.stringify(value)),
      );
      expect((await valuesOf(client, 'Outcome', 1)).get('reward')?.value).toBe(`${reward}`);
      const own = scores.filter((score) => score.call === call);
      const told = (await client.evaluateRequest({ expression: 'scores', context: 'clipboard' })).body.result;
      expect(JSON.parse(told)).toEqual(own);
      const tokens = await valuesOf(client, 'Tokens', 1);
      for (let k = 0; k < (sample.responseLength ?? 0); k++) {
        const { result } = (await client.evaluateRequest({ expression: `token[${k}]`, context: 'clipboard' })).body;
        const last = own.at(-1);
        expect(JSON.parse(result)).toMatchObject({
          text: expect.any(String),
          logq: last?.logq[k] ?? null,
          logp: last?.logp[k] ?? null,
          w: last?.w[k] ?? null,
        });
        expect(tokens.has(`${k}`)).toBe(true);
      }
      seen.add(call);
      expect(await move(client, 'next', 1)).toBe(true);
    }
    // The outcome, then nothing.
    expect(await move(client, 'next', 1)).toBe(false);
    await letGo(client);
  }
  expect(seen).toEqual(new Set(samples.keys()));
  // Looking changes nothing.
  expect(filesOf(run)).toEqual(before);
});

it('finds teacher and evaluation episodes by their ids, and gives their texts', async () => {
  const evaluations = linesOf<{ event: { type: string; section?: string; episode?: string } }>('journal.jsonl')
    .map(({ event }) => event)
    .filter(({ type, section }) => type === 'episode-finished' && !section?.startsWith('rounds'));
  const sections = new Map(evaluations.map(({ section, episode }) => [section, episode]));
  expect(sections.size).toBeGreaterThan(2);
  for (const episode of sections.values()) {
    const client = await start();
    await launch(client, { run, episode });
    const [frame] = (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames;
    expect(frame.name).toBe('turn 0');
    const { sourceReference = 0 } = frame.source as Dap.Source;
    const { content } = (await client.sourceRequest({ sourceReference })).body;
    expect(content.split('\n')[frame.line - 1]).toMatch(/^turn 0/);
    await letGo(client);
  }
});

it('loads a group, whose threads are gone through with every filter set', async () => {
  const [{ id, task, init }] = linesOf<EpisodeRecord>('rounds/0001/episodes.jsonl');
  const group = linesOf<EpisodeRecord>('rounds/0001/episodes.jsonl').filter(
    (one) => one.task === task && one.init === init,
  );
  const client = await start();
  await launch(client, { run, episode: id, group: true });
  const { threads } = (await client.threadsRequest()).body;
  expect(threads.length).toBe(group.length);
  await client.setExceptionBreakpointsRequest({ filters: ['tool-error', 'zero-weight', 'truncated'] });
  for (const { id: threadId } of threads) for (let k = 0; k < 50 && (await move(client, 'continue', threadId)); k++);
  await letGo(client);
});

it('answers nonsense with words', async () => {
  const client = await start();
  await client.initializeRequest();
  await expect(client.launchRequest({ run } as Dap.LaunchRequestArguments)).rejects.toThrow(
    '"episode" of the launch configuration',
  );
  writeFileSync(join(folder, 'note.txt'), '');
  await expect(
    client.launchRequest({ run: join(folder, 'note.txt'), episode: 'x' } as Dap.LaunchRequestArguments),
  ).rejects.toThrow('is no run directory');
  await expect(client.send('nonsense')).rejects.toThrow('"nonsense" is not supported');
});
