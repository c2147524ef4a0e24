import { describe, expect, it } from 'vitest';
import type { EpisodeOutput, EpisodeRequest } from '../../../../protocol/adapter.ts';
import { launchSchema, outcomeSchema } from '../../../../protocol/adapter.ts';
import adapter from '../../../../trainer-daemon/harnesses/tabletop-skills/adapter.ts';
import blank from '../../../../trainer-daemon/harnesses/tabletop-skills/blank-adapter.ts';
import unsteady from '../../../../trainer-daemon/harnesses/tabletop-skills/unsteady-adapter.ts';
import unsteadyBlank from '../../../../trainer-daemon/harnesses/tabletop-skills/unsteady-blank-adapter.ts';
import { INITIAL_STATES } from '../../../../trainer-daemon/tabletop/index.ts';

const EPISODE = {
  task: 'tabletop_goal_swap/3',
  suite: 'tabletop_goal_swap',
  taskIndex: 3,
  init: 12,
  attempt: 2,
  role: 'rollout' as const,
  seed: 7,
};
const RESULT = {
  task: EPISODE.task,
  init: 12,
  attempt: 2,
  success: true,
  successTurn: 3,
  end: 'finish',
  failure: null,
};

function outcomeOf(files: Record<string, string>, more: Partial<EpisodeOutput> = {}) {
  const output: EpisodeOutput = {
    episode: EPISODE,
    exitCode: 0,
    signal: null,
    timedOut: false,
    stdoutTail: '',
    stderrTail: '',
    readText: (path) => files[path],
    readJson: (path) => (files[path] === undefined ? undefined : JSON.parse(files[path])),
    list: () => Object.keys(files),
    calls: [],
    ...more,
  };
  return outcomeSchema.parse(adapter.outcome(output));
}

const own = { task: EPISODE.task, init: 12, attempt: 2 };
const result = (more: object = {}): Record<string, string> => ({
  'result.json': JSON.stringify({ ...RESULT, ...more }),
});

describe('outcome', () => {
  it('is the simulator check, with its turn and the trajectory', () => {
    expect(outcomeOf({ ...result(), 'trajectory.json': '{}' })).toEqual({
      ...own,
      reward: 1,
      valid: true,
      successTurn: 3,
      trajectory: 'trajectory.json',
    });
  });

  it.each(['finish', 'no-tool-call', 'turn-limit', 'time-limit', 'context-full', 'closed'])(
    'is a valid failure after %s without success, whatever the planner said',
    (end) => {
      const told = { success: false, successTurn: null, end, finishStatus: 'done' };
      expect(outcomeOf(result(told))).toEqual({ ...own, reward: 0, valid: true });
    },
  );

  it.each([
    ['model-failure', "the model's endpoint failed: status 500"],
    ['world-failure', 'the simulated world failed: status 500'],
  ])('is invalid after a %s, with the reason', (end, invalidReason) => {
    expect(outcomeOf(result({ success: false, end, failure: 'status 500' }))).toEqual({
      ...own,
      reward: 0,
      valid: false,
      invalidReason,
    });
  });

  it('is invalid without result.json, and says how the process ended', () => {
    const reason = (more: Partial<EpisodeOutput>) => outcomeOf({}, more).invalidReason;
    expect(reason({ exitCode: null, signal: 'SIGKILL' })).toBe('the harness left no result.json: SIGKILL');
    expect(reason({ exitCode: 7, stderrTail: 'warning\nError: no wasm\n' })).toBe(
      'the harness left no result.json: exit code 7, last words: Error: no wasm',
    );
    expect(reason({ answer: { done: false, error: 'not an episode: init' } })).toBe(
      'the harness left no result.json: not an episode: init',
    );
  });

  it('without result.json is a valid failure where one of our limits ended the episode', () => {
    expect(outcomeOf({}, { timedOut: true })).toEqual({ ...own, reward: 0, valid: true });
  });

  it('is invalid where result.json is broken, incomplete or about another episode', () => {
    expect(outcomeOf({ 'result.json': '{"succ' })).toMatchObject({
      valid: false,
      invalidReason: expect.stringMatching(/^result\.json cannot be read: .+/),
    });
    expect(outcomeOf({ 'result.json': 'null' })).toMatchObject({
      valid: false,
      invalidReason: 'result.json has no success',
    });
    expect(outcomeOf(result({ success: 'yes' }))).toMatchObject({
      valid: false,
      invalidReason: 'result.json has no success',
    });
    expect(outcomeOf(result({ attempt: 3 }))).toMatchObject({
      ...own,
      valid: false,
      invalidReason: 'result.json is about another episode: tabletop_goal_swap/3, state 12, attempt 3',
    });
  });
});

describe('the adapter', () => {
  it('tells as many states as the world has', async () => {
    expect(adapter.states).toBe(INITIAL_STATES);
  });

  it('lists ten tasks in each of twelve suites', async () => {
    const tasks = typeof adapter.tasks === 'function' ? await adapter.tasks() : adapter.tasks;
    expect(Object.values(tasks ?? {}).map((list) => list.length)).toEqual(Array(12).fill(10));
    expect(tasks?.tabletop_goal_swap[3]).toBe('put the green can on the plate');
  });

  it('launches a reusable worker beside its own file, and the teacher likewise', async () => {
    const request: EpisodeRequest = {
      ...EPISODE,
      limits: { turns: 9, seconds: 60, responseTokens: 100, idleSeconds: 30 },
      baseUrl: 'http://127.0.0.1:1/v1',
      apiKey: 'key',
      model: 'planner',
      outputDir: '/out',
    };
    const context = { node: '/bin/node', adapterDir: '/dist', workspace: '/w' };
    const { role: _, ...told } = request;
    const launch = launchSchema.parse(await adapter.launch(request, context));
    // The role is nothing to the harness: it plays alike whatever an episode is for.
    expect(launch).toEqual({
      worker: { command: '/bin/node', args: ['/dist/tabletop-skills.mjs'] },
      episode: told,
    });
    // The harder world and the controls tell the same worker what is other.
    const others = { blank, unsteady, both: unsteadyBlank };
    const episodes: Record<string, unknown> = {};
    for (const [name, other] of Object.entries(others)) {
      const parsed = launchSchema.parse(await other.launch(request, context));
      episodes[name] = 'episode' in parsed ? parsed.episode : undefined;
    }
    expect(episodes).toEqual({
      blank: { ...told, observations: 'blank' },
      unsteady: { ...told, hand: 'unsteady' },
      both: { ...told, observations: 'blank', hand: 'unsteady' },
    });
    expect(adapter.scriptedTeacher?.(context)).toEqual({
      command: '/bin/node',
      args: ['/dist/tabletop-skills.teacher.mjs'],
    });
  });
});
