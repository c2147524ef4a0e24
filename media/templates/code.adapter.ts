// Adapter of a harness whose planner writes control code, which is run in a sandbox. It says two things: how one episode
// is started, and how what it left behind becomes the five fields. The harness itself is not changed.

import { defineAdapter } from 'agentic-robo-rl';

/** Suite -> the instruction of each task. A task is named `suite/index` in every record. */
const TASKS = { my_suite: ['Stack the blocks by size.', 'Sort the fruit into the two boxes.'] };

/** What the harness writes when an episode ends. */
interface Result {
  /** Of the simulator or the sensors. */
  taskCompleted: boolean;
  /** What became of the planner's last program: an error in it is the planner's, and the episode is valid. */
  program: 'finished' | 'error' | 'timeout';
  /** Set when the sandbox itself, the simulator or a perception server failed. */
  infrastructureFailure?: string;
}

export default defineAdapter({
  name: 'my-harness',
  tasks: TASKS,
  // Initial states of a task, 0 to 49. The same number has to be the same scene in every attempt.
  states: 50,

  launch(episode, context) {
    return {
      command: 'python3',
      args: [
        'run_trial.py',
        ...['--suite', episode.suite, '--task', String(episode.taskIndex), '--init', String(episode.init)],
        ...['--max-turns', String(episode.limits.turns), '--max-tokens', String(episode.limits.responseTokens)],
        ...['--output-dir', episode.outputDir],
      ],
      cwd: context.adapterDir,
      env: { OPENAI_BASE_URL: episode.baseUrl, OPENAI_API_KEY: episode.apiKey, OPENAI_MODEL: episode.model },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const invalid = (invalidReason: string) => ({ task, init, attempt, reward: 0, valid: false, invalidReason });
    const result = output.readJson('trial.json') as Result | undefined;
    if (result === undefined && output.timedOut) return { task, init, attempt, reward: 0, valid: true };
    if (result === undefined) return invalid(`no trial.json (exit code ${output.exitCode})`);
    if (result.infrastructureFailure !== undefined) return invalid(result.infrastructureFailure);
    // Code that raises or never ends is what the planner has to learn from: valid, reward 0.
    return { task, init, attempt, reward: result.taskCompleted ? 1 : 0, valid: true };
  },
});
