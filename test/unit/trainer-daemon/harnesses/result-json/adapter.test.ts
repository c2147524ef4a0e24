import { afterEach, describe, expect, it } from 'vitest';
import { type EpisodeOutput, type EpisodeRequest, outcomeSchema } from '../../../../../protocol/adapter.ts';
import adapter from '../../../../../trainer-daemon/harnesses/result-json/adapter.ts';

const episode = {
  task: 's/3',
  suite: 's',
  taskIndex: 3,
  init: 1,
  attempt: 2,
  role: 'rollout',
  seed: 5,
  limits: { turns: 1, seconds: 1, responseTokens: 1, idleSeconds: 1 },
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKey: 'k',
  model: 'm',
  outputDir: '/out',
} satisfies EpisodeRequest;
const context = { node: 'node', adapterDir: '/a', workspace: '/w' };
const output = (result: unknown, exitCode: number | null = 0): EpisodeOutput => ({
  episode,
  exitCode,
  signal: null,
  timedOut: false,
  stdoutTail: '',
  stderrTail: '',
  readText: () => undefined,
  readJson: () => result,
  list: () => [],
  calls: [],
});
const variable = 'AGENTIC_ROBO_RL_HARNESS';
afterEach(() => {
  delete process.env[variable];
});

describe('result-json', () => {
  it.each([
    ['python play.py', 'python', ['play.py']],
    ['["python", "my play.py"]', 'python', ['my play.py']],
  ])('runs %s', (written, command, args) => {
    process.env[variable] = written;
    expect(adapter.launch(episode, context)).toMatchObject({
      command,
      args,
      cwd: '/w',
      env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm', OUTPUT_DIR: '/out' },
    });
  });

  it.each([undefined, ' ', '["a", 1]', '[]', '[oh'])('says how to name the command: %s', (written) => {
    if (written !== undefined) process.env[variable] = written;
    expect(() => adapter.launch(episode, context)).toThrow(variable);
  });

  it('fills in what was asked and drops what is not ours', () => {
    const outcome = adapter.outcome(output({ reward: 1, valid: true, successTurn: 4, notes: 'x', trajectory: null }));
    expect(outcome).toEqual({ task: 's/3', init: 1, attempt: 2, reward: 1, valid: true, successTurn: 4 });
    expect(outcomeSchema.safeParse(outcome).success).toBe(true);
  });

  it('is invalid without a result and an error with half of one', () => {
    expect(adapter.outcome(output(undefined, 3))).toMatchObject({
      valid: false,
      invalidReason: 'the harness wrote no result.json (exit code 3)',
    });
    expect(() => adapter.outcome(output({ valid: true }))).toThrow('no "reward"');
    expect(() => adapter.outcome(output({ reward: 1 }))).toThrow('no "valid"');
    expect(() => adapter.outcome(output([]))).toThrow('must hold an object');
  });
});
