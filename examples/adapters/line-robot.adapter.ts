// The adapter of line-robot.harness.mjs: how an episode is started, and how what it left becomes the five fields.
// docs/adapters.md goes through it line by line.

import { join } from 'node:path';
import { defineAdapter } from 'agentic-robo-rl';

/** Suite -> the instruction of each task. A task is named `suite/index` in every record. */
const TASKS = { line_robot: ['Go to the lamp.', 'Switch the lamp on.'] };

/** An initial state is a number; here it says where robot and lamp stand. The same number is always the same scene. */
function scene(init: number): { start: number; lamp: number } {
  const start = init % 10;
  return { start, lamp: (start + 1 + (Math.floor(init / 10) % 9)) % 10 };
}

export default defineAdapter({
  name: 'line-robot',
  tasks: TASKS,
  // Ten starts and nine places for the lamp; beyond that the scenes repeat.
  states: 90,

  launch(episode, context) {
    const { start, lamp } = scene(episode.init);
    return {
      command: context.node,
      args: [
        join(context.adapterDir, 'line-robot.harness.mjs'),
        ...['--goal', episode.taskIndex === 0 ? 'reach' : 'press'],
        ...['--start', String(start), '--lamp', String(lamp)],
        ...['--max-turns', String(episode.limits.turns)],
        ...['--out', episode.outputDir],
      ],
      env: { OPENAI_BASE_URL: episode.baseUrl, OPENAI_API_KEY: episode.apiKey, OPENAI_MODEL: episode.model },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const result = output.readJson('line-robot.json') as
      | { solved: boolean; turns: number; failure: string | null }
      | undefined;
    // Our own time limit may end the harness before it writes a result: a valid failure of the planner's.
    if (result === undefined && output.timedOut) return { task, init, attempt, reward: 0, valid: true };
    if (result === undefined)
      return {
        task,
        init,
        attempt,
        reward: 0,
        valid: false,
        invalidReason: `no result file, exit code ${output.exitCode}`,
      };
    if (result.failure !== null) return { task, init, attempt, reward: 0, valid: false, invalidReason: result.failure };
    return {
      task,
      init,
      attempt,
      reward: result.solved ? 1 : 0,
      valid: true,
      successTurn: result.solved ? result.turns - 1 : undefined,
    };
  },
});
