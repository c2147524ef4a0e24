/** `doctor --upstream`: honest servers of every kind, and one double for each way in which a server may mislead. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { upstreamVerdict } from '../../cli/doctor/upstream.ts';
import { initialisePlanner } from '../../trainer-daemon/planner/initialise.ts';
import { type PlannerServer, startPlannerServer } from '../../trainer-daemon/planner/serving/server.ts';
import { examineUpstream, type UpstreamFinding } from '../../trainer-daemon/proxy/examination/index.ts';
import { encode, render } from '../doubles/wire/letter-model.ts';
import { startLlamacpp } from '../doubles/wire/llamacpp.ts';
import { startSglang } from '../doubles/wire/sglang.ts';
import { startVllm } from '../doubles/wire/vllm.ts';
import type { Lies, WireOptions, WireServer } from '../doubles/wire/wire-server.ts';
import { cli } from './cli-process.ts';

const START = { vllm: startVllm, sglang: startSglang, llamacpp: startLlamacpp };
const NEWEST = { vllm: '0.13.0', sglang: '0.6.0', llamacpp: 'b6500' };
type Kind = keyof typeof START;

const open: WireServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function examine(kind: Kind, options: Partial<WireOptions> = {}, as?: 'openai'): Promise<UpstreamFinding[]> {
  const server = await START[kind]({ version: NEWEST[kind], ...options });
  open.push(server);
  return examineUpstream({
    url: server.url,
    apiKey: options.apiKey ?? null,
    kind: as,
    renderPrompt: ({ messages, tools }) => encode(render({ messages, tools })),
  });
}

const states = (findings: UpstreamFinding[]) => Object.fromEntries(findings.map(({ name, state }) => [name, state]));
const HONEST = {
  server: 'ok',
  model: 'ok',
  'token ids': 'ok',
  'token ids in streams': 'ok',
  'log-probs': 'ok',
  alignment: 'ok',
  'chat template': 'ok',
};

describe.each(['vllm', 'sglang', 'llamacpp'] as const)('%s', (kind) => {
  it('nothing speaks against an honest server', async () => {
    const findings = await examine(kind);
    expect(states(findings)).toEqual({ ...HONEST, 'policy version': 'warning' });
    const told = JSON.stringify(findings);
    expect(told).toContain('twice the temperature makes a difference of log-probs 0.50 times as large');
    expect(told).toContain('8 of 8 log-probs are found again');
  });

  it.each([
    ['raw log-probs', { raw: true }, 'log-probs', /before the sampling settings.*1\.00 times/],
    ['log-probs off by one', { shifted: true }, 'alignment', /do not belong together|in the list beside it/],
    ['ids of another text', { wrongIds: true }, 'alignment', /do not belong together|in the list beside it/],
    ['another chat template', { otherTemplate: true }, 'chat template', /differ from token 0 on/],
    ['no ids', { noIds: true }, 'token ids', /cannot be trained on: no (prompt|response) token ids came/],
    ['no log-probs', { noLogprobs: true }, 'token ids', /cannot be trained on/],
  ] as [string, Lies, string, RegExp][])('finds out: %s', async (_, lies, name, sentence) => {
    const findings = await examine(kind, { lies });
    const found = findings.find((finding) => finding.name === name);
    expect(found).toMatchObject({ state: 'error', detail: expect.stringMatching(sentence) });
    // One lie is not taken for another.
    if (lies.raw || lies.otherTemplate) {
      const others = findings.filter((finding) => finding.name !== name && finding.state === 'error');
      expect(others).toEqual([]);
    }
  });
});

describe('other things it tells', () => {
  it('the version of the weights, where the server knows it', async () => {
    const version = async (kind: Kind, weightVersion: string) =>
      (await examine(kind, { weightVersion })).find(({ name }) => name === 'policy version');
    expect(await version('sglang', '4')).toMatchObject({ state: 'ok', detail: '4, told with each reply and checked' });
    expect(await version('sglang', 'default')).toMatchObject({ state: 'warning' });
    expect(await version('vllm', '4')).toMatchObject({ detail: expect.stringContaining('4 at /weight_info') });
  });

  it('that a plain API serves teachers only', async () => {
    const findings = await examine('vllm', {}, 'openai');
    expect(states(findings)).toMatchObject({ server: 'ok', 'token ids': 'missing', 'log-probs': 'missing' });
  });

  it('that nobody answers, or only with a key', async () => {
    const [nobody] = await examineUpstream({ url: 'http://127.0.0.1:9', apiKey: null });
    expect(nobody).toMatchObject({ state: 'error', detail: expect.stringContaining('ECONNREFUSED') });
    const server = await startVllm({ apiKey: 'k' });
    open.push(server);
    const [locked] = await examineUpstream({ url: server.url, apiKey: null });
    expect(locked).toMatchObject({ state: 'error', detail: expect.stringContaining('HTTP 401') });
    expect(states(await examine('vllm', { apiKey: 'k' }))).toMatchObject(HONEST);
  });

  it('an old server', async () => {
    const old = await examine('vllm', { version: '0.8.5' });
    expect(old.find(({ name }) => name === 'token ids')).toMatchObject({
      state: 'error',
      advice: expect.stringContaining('0.10.2'),
    });
  });
});

describe('the command', () => {
  let folder: string;
  let planner: PlannerServer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'arrl examine '));
    const init = { layers: 1, hidden: 32, intermediate: 48, heads: 2, kvHeads: 1, vocabulary: 300, context: 1024 };
    await initialisePlanner(join(folder, 'tiny'), init, ['move to the lamp'], 1);
    planner = await startPlannerServer({ checkpoint: join(folder, 'tiny'), policyVersion: 3, modelName: 'planner' });
  });
  afterAll(async () => {
    await planner?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds the embedded planner fit to be trained', async () => {
    const { code, out, err } = await cli(folder, [
      'doctor',
      '--upstream',
      planner.url,
      '--checkpoint',
      'tiny',
      '--json',
    ]);
    expect([code, err]).toEqual([0, '']);
    const { ok, verdict, checks } = JSON.parse(out) as { ok: boolean; verdict: unknown; checks: UpstreamFinding[] };
    expect([ok, verdict]).toEqual([true, { trainable: true, text: 'nothing speaks against this server' }]);
    expect(states(checks)).toEqual({ ...HONEST, 'policy version': 'ok' });
    expect(checks[0].detail).toContain('the embedded planner');
    expect(checks.find(({ name }) => name === 'policy version')?.detail).toContain('3, told with each reply');
  });

  it('prints a table, and leaves with 1 when calls should not be trained on', async () => {
    const server = await startVllm({ lies: { raw: true } });
    open.push(server);
    const { code, out } = await cli(folder, ['doctor', '--upstream', server.url]);
    expect(code).toBe(1);
    expect(out).toMatch(/error\s+log-probs\s+of the model before the sampling settings/);
    expect(out).toMatch(/--logprobs-mode\s+processed_logprobs/);
    expect(out).toContain('calls to this server should not be trained on');
    expect(out).toMatch(/ok\s+alignment/);
  });

  it('says of a server without token ids that it is one for teachers', async () => {
    const server = await startVllm({ version: NEWEST.vllm });
    open.push(server);
    const { code, out } = await cli(folder, ['doctor', '--upstream', server.url, '--upstream-kind', 'openai']);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/\nthis server will do for a teacher; its calls cannot be trained on\n$/),
    ]);
    expect(out).not.toContain('nothing speaks against');
  });

  it('says what could not be told', () => {
    const fine = ['token ids', 'token ids in streams', 'log-probs', 'alignment'].map((name) => ({
      name,
      state: 'ok' as const,
      detail: '',
    }));
    const untold = { name: 'alignment', state: 'warning' as const, detail: 'could not be told' };
    expect(upstreamVerdict(fine).trainable).toBe(true);
    expect(upstreamVerdict([...fine, { ...untold, name: 'policy version' }]).trainable).toBe(true);
    expect(upstreamVerdict([...fine.slice(0, 3), untold])).toEqual({
      trainable: null,
      text: expect.stringMatching(/not all could be told \(alignment\)/),
    });
    expect(upstreamVerdict([...fine, { ...untold, state: 'error' }]).trainable).toBe(false);
  });

  it.each([
    [['--upstream', 'nowhere'], 'is not a URL'],
    [['--upstream', 'http://h', '--checkpoint', 'missing'], 'missing'],
    [['--upstream', 'http://h', '--api-key-environment', 'NO_SUCH'], 'NO_SUCH is not set'],
    [['--upstream', 'http://h', '--upstream-kind', 'ollama'], 'Allowed choices'],
  ])('refuses %j', async (words, sentence) => {
    const { code, err } = await cli(folder, ['doctor', ...words]);
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  });
});
