/** The shipped adapter of the skills harness, written against the public contract only. */
import { join } from 'node:path';
import { type Adapter, defineAdapter, type TaskList } from '../../../protocol/adapter.ts';
import { suiteNames, tasks } from '../../tabletop/suites/registry.ts';

const adapter: Adapter = defineAdapter({
  name: 'tabletop-skills',

  tasks(): TaskList {
    return Object.fromEntries(suiteNames().map((suite) => [suite, tasks(suite).map((task) => task.instruction)]));
  },

  launch(episode, context) {
    const { task, suite, taskIndex, init, attempt, seed, limits, baseUrl, apiKey, model, outputDir } = episode;
    return {
      worker: { command: context.node, args: [join(context.adapterDir, 'tabletop-skills.mjs')] },
      episode: { task, suite, taskIndex, init, attempt, seed, limits, baseUrl, apiKey, model, outputDir },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const result = output.readJson('result.json') as
      | { success?: unknown; successTurn?: unknown; end?: unknown; failure?: unknown }
      | undefined;
    if (result === undefined) {
      // A limit that ended the episode from outside is a failure of the planner; anything else is not.
      return output.timedOut
        ? { task, init, attempt, reward: 0, valid: true }
        : { task, init, attempt, reward: 0, valid: false, invalidReason: 'the harness left no result.json' };
    }
    if (typeof result.success !== 'boolean')
      return { task, init, attempt, reward: 0, valid: false, invalidReason: 'result.json has no success' };
    const trajectory = output.list().includes('trajectory.json') ? { trajectory: 'trajectory.json' } : {};
    if (result.end === 'model-failure') {
      return {
        task,
        init,
        attempt,
        reward: 0,
        valid: false,
        invalidReason: `the model's endpoint failed: ${String(result.failure)}`,
        ...trajectory,
      };
    }
    return {
      task,
      init,
      attempt,
      // The simulator's check at the end, not the planner's own `finish`.
      reward: result.success ? 1 : 0,
      valid: true,
      ...(typeof result.successTurn === 'number' && { successTurn: result.successTurn }),
      ...trajectory,
    };
  },

  scriptedTeacher(context) {
    return { command: context.node, args: [join(context.adapterDir, 'tabletop-skills.teacher.mjs')] };
  },
});

export default adapter;
