/** What New Adapter and New Training Config write: typed without an installation, free of findings, right about outcomes. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfigFile } from '../../../cli/config-file.ts';
import { embeddedConfig, harnessConfig, suitesIn } from '../../../extension/creating/config-text.ts';
import { tsconfig } from '../../../extension/creating/tsconfig-text.ts';
import { adapterFindings } from '../../../language-server/service/adapters/index.ts';
import type { Adapter, EpisodeOutput, Outcome } from '../../../protocol/adapter.ts';

const root = resolve(import.meta.dirname, '../../..');
const templates = join(root, 'media/templates');
const names = readdirSync(templates);

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'arrl templates ü-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('there are the five', () => {
  expect(names.toSorted()).toEqual(
    ['cap-x', 'code', 'libero-logs', 'rpent', 'skills'].map((name) => `${name}.adapter.ts`),
  );
});

it('their types hold in a workspace that has nothing else, and tell a misspelt field', () => {
  const folder = temporary();
  mkdirSync(join(folder, '.agentic-robo-rl/types'), { recursive: true });
  mkdirSync(join(folder, 'adapters'));
  copyFileSync(join(root, 'dist/adapter.d.ts'), join(folder, '.agentic-robo-rl/types/agentic-robo-rl.d.ts'));
  for (const name of names) copyFileSync(join(templates, name), join(folder, 'adapters', name));
  writeFileSync(join(folder, 'adapters/tsconfig.json'), tsconfig('../.agentic-robo-rl/types/agentic-robo-rl.d.ts'));
  const check = () =>
    spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'adapters'], {
      cwd: folder,
      encoding: 'utf8',
    });
  expect(check()).toMatchObject({ stdout: '', status: 0 });
  const skills = readFileSync(join(templates, 'skills.adapter.ts'), 'utf8').replace(
    'reward: success',
    'rewrad: success',
  );
  writeFileSync(join(folder, 'adapters/skills.adapter.ts'), skills);
  expect(check().stdout).toMatch(/rewrad/);
});

describe.each(names)('%s', (name) => {
  const text = readFileSync(join(templates, name), 'utf8');
  it('has no findings, and one placeholder for its name', () => {
    expect(adapterFindings(text, { fileName: name })).toEqual([]);
    expect(text.split("'my-harness'")).toHaveLength(2);
  });
});

it('the one for RPent is the example, save for its name and where its servers are named', () => {
  const template = readFileSync(join(templates, 'rpent.adapter.ts'), 'utf8');
  const example = readFileSync(join(root, 'examples/adapters/rpent.ts'), 'utf8');
  // A new workspace has no types of Node's.
  const servers = '{ env: process.env.RPENT_ENV, vla: process.env.RPENT_VLA, sam3: process.env.RPENT_SAM3 }';
  expect(
    template.replace("name: 'my-harness'", "name: 'rpent'").replace("{ env: '', vla: '', sam3: '' }", servers),
  ).toBe(example);
});

/** Asks a template what an episode came to. */
async function outcomeOf(name: string, output: Partial<EpisodeOutput> & { files?: Record<string, string> }) {
  const { default: adapter } = (await import(join(templates, `${name}.adapter.ts`))) as { default: Adapter };
  const { files = {}, ...rest } = output;
  const result = await adapter.outcome({
    episode: { task: 's/1', suite: 's', taskIndex: 1, init: 7, attempt: 2, role: 'rollout', seed: 1 },
    exitCode: 0,
    signal: null,
    timedOut: false,
    stdoutTail: '',
    stderrTail: '',
    readText: (path) => files[path],
    readJson: (path) => (files[path] === undefined ? undefined : JSON.parse(files[path])),
    list: () => Object.keys(files),
    calls: [],
    ...rest,
  });
  expect(result).toMatchObject({ task: 's/1', init: 7, attempt: 2 });
  return result;
}

const solved: Partial<Outcome> = { reward: 1, valid: true };
const unsolved: Partial<Outcome> = { reward: 0, valid: true };
const invalid = (invalidReason: string): Partial<Outcome> => ({ valid: false, invalidReason });

it.each<[string, Parameters<typeof outcomeOf>[1], Partial<Outcome>]>([
  ['skills', { files: { 'result.json': '{"success":true,"successTurn":3}' } }, { ...solved, successTurn: 3 }],
  ['skills', { files: { 'result.json': '{"success":false}' } }, unsolved],
  ['skills', { files: { 'result.json': '{"success":true,"infrastructureFailure":"camera"}' } }, invalid('camera')],
  ['skills', { timedOut: true }, unsolved],
  ['skills', { exitCode: 3 }, invalid('no result.json (exit code 3)')],
  ['code', { files: { 'trial.json': '{"taskCompleted":true,"program":"finished"}' } }, solved],
  ['code', { files: { 'trial.json': '{"taskCompleted":false,"program":"error"}' } }, unsolved],
  ['code', { exitCode: 1 }, invalid('no trial.json (exit code 1)')],
  ['rpent', { files: { 'a/states.json': '{"steps":[{"terminated":false},{"terminated":true}]}' } }, solved],
  [
    'rpent',
    { files: { 'states.json': '{"steps":[{}]}', 'run.log': 'x RPC timeout' } },
    invalid('run.log: RPC timeout'),
  ],
  ['cap-x', { files: { 'm/trial_08_sandboxrc_0_reward_1.000_taskcompleted_1/summary.txt': '' } }, solved],
  // Fractional and negative rewards are CaP-X's own; the task counts.
  ['cap-x', { files: { 'm/trial_08_sandboxrc_1_reward_-0.500_taskcompleted_0/code.py': '' } }, unsolved],
  [
    'cap-x',
    {
      files: {
        'm/trial_08_sandboxrc_0_reward_1.000_taskcompleted_1/code.py': '',
        'm/trial_08_sandboxrc_1_reward_0.000_taskcompleted_0/code.py': '',
      },
    },
    invalid('several folders of the trial with different results'),
  ],
  ['cap-x', { stderrTail: 'trial 8 timed out after 1000 s' }, invalid('CaP-X: timed out after')],
  ['cap-x', { exitCode: 2 }, invalid('no folder of a trial (exit code 2)')],
  [
    'libero-logs',
    { files: { 'episodes.jsonl': '{"success":true,"init_state_id":7,"termination_reason":"success"}\n' } },
    solved,
  ],
  [
    'libero-logs',
    { files: { 'episodes.jsonl': '{"success":false,"init_state_id":7,"termination_reason":"max_steps"}' } },
    unsolved,
  ],
  [
    'libero-logs',
    { files: { 'episodes.jsonl': '{"success":false,"init_state_id":0,"termination_reason":"max_steps"}' } },
    invalid('it played state 0, not 7'),
  ],
  [
    'libero-logs',
    { files: { 'episodes.jsonl': '{"success":false,"init_state_id":7,"termination_reason":"KeyError: a"}' } },
    invalid('KeyError: a'),
  ],
  ['libero-logs', { stdoutTail: 'Starting episode 1...\nSuccess: True\n' }, solved],
  ['libero-logs', { stdoutTail: 'Caught exception: no GPU\nSuccess: False' }, invalid('Caught exception: no GPU')],
])('%s: %j', async (name, output, expected) => {
  expect(await outcomeOf(name, output)).toMatchObject(expected);
});

describe('new configs', () => {
  const errorsOf = (text: string) => {
    const file = join(temporary(), 'new.training.yaml');
    writeFileSync(file, text);
    mkdirSync(join(file, '..', 'adapters'));
    copyFileSync(join(templates, 'skills.adapter.ts'), join(file, '..', 'adapters/my-robot.adapter.ts'));
    return readConfigFile(file).findings.filter(({ severity }) => severity === 'error');
  };

  it('for the embedded world have no errors and the name', () => {
    const text = embeddedConfig('table', readFileSync(join(root, 'examples/demo.training.yaml'), 'utf8'));
    expect(errorsOf(text)).toEqual([]);
    expect(text).toMatch(/^name: table$/m);
  });

  it('for an adapter have no errors, its path and its suites', () => {
    const text = harnessConfig('mine', './adapters/my-robot.adapter.ts', ['my_suite']);
    expect(errorsOf(text)).toEqual([]);
    expect(text).toContain('adapter: ./adapters/my-robot.adapter.ts\n  suites: [my_suite]');
  });

  it('find the suites where the adapter lists them', () => {
    expect(suitesIn(readFileSync(join(templates, 'skills.adapter.ts'), 'utf8'))).toEqual(['my_suite']);
    expect(suitesIn("const TASKS = { a: ['x'], 'b_c': ['y', 'z'] };")).toEqual(['a', 'b_c']);
    expect(suitesIn('export default 3')).toEqual(['my_suite']);
  });
});
