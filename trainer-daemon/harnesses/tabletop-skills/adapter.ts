/** The shipped adapter of the skills harness, written against the public contract only. */
import { join } from 'node:path';
import { defineAdapter, type EpisodeOutput, type Outcome, type TaskList } from '../../../protocol/adapter.ts';
import { INITIAL_STATES, suiteNames, tasks } from '../../tabletop/suites/registry.ts';

/** The simulator's check at the end is the reward, not the planner's own `finish`. */
function outcome(output: EpisodeOutput): Outcome {
  const { task, init, attempt } = output.episode;
  const trajectory = output.list().includes('trajectory.json') ? { trajectory: 'trajectory.json' } : {};
  const failed = (invalidReason: string): Outcome => ({
    task,
    init,
    attempt,
    reward: 0,
    valid: false,
    invalidReason,
    ...trajectory,
  });
  let result: unknown;
  try {
    result = output.readJson('result.json');
  } catch (error) {
    return failed(`result.json cannot be read: ${(error as Error).message}`);
  }
  if (result === undefined) {
    // A limit that ended the episode from outside is a failure of the planner; anything else is not.
    if (output.timedOut) return { task, init, attempt, reward: 0, valid: true, ...trajectory };
    return failed(`the harness left no result.json: ${howItEnded(output)}`);
  }
  const told = (typeof result === 'object' && result !== null ? result : {}) as Record<string, unknown>;
  if (typeof told.success !== 'boolean') return failed('result.json has no success');
  if (told.task !== task || told.init !== init || told.attempt !== attempt)
    return failed(`result.json is about another episode: ${told.task}, state ${told.init}, attempt ${told.attempt}`);
  if (told.end === 'model-failure') return failed(`the model's endpoint failed: ${told.failure}`);
  if (told.end === 'world-failure') return failed(`the simulated world failed: ${told.failure}`);
  return {
    task,
    init,
    attempt,
    reward: told.success ? 1 : 0,
    valid: true,
    ...(typeof told.successTurn === 'number' && { successTurn: told.successTurn }),
    ...trajectory,
  };
}

function howItEnded({ answer, exitCode, signal, stderrTail }: EpisodeOutput): string {
  const error = (answer as { error?: unknown } | null | undefined)?.error;
  if (typeof error === 'string') return error;
  const words = stderrTail.trim().split('\n').at(-1)?.slice(-300);
  return `${signal ?? `exit code ${exitCode}`}${words ? `, last words: ${words}` : ''}`;
}

export default defineAdapter({
  name: 'tabletop-skills',

  tasks(): TaskList {
    return Object.fromEntries(suiteNames().map((suite) => [suite, tasks(suite).map((task) => task.instruction)]));
  },

  states: INITIAL_STATES,

  launch(episode, context) {
    const { task, suite, taskIndex, init, attempt, seed, limits, baseUrl, apiKey, model, outputDir } = episode;
    return {
      worker: { command: context.node, args: [join(context.adapterDir, 'tabletop-skills.mjs')] },
      episode: { task, suite, taskIndex, init, attempt, seed, limits, baseUrl, apiKey, model, outputDir },
    };
  },

  outcome,

  scriptedTeacher(context) {
    return { command: context.node, args: [join(context.adapterDir, 'tabletop-skills.teacher.mjs')] };
  },
});
