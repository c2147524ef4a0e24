// Adapter of a harness whose planner calls skills (tools) and sees what happened. It says two things: how one episode is
// started, and how what it left behind becomes the five fields. The harness itself is not changed.

import { defineAdapter } from 'agentic-robo-rl';

/** Suite -> the instruction of each task. A task is named `suite/index` in every record. */
const TASKS = { my_suite: ['Put the red cube into the bowl.', 'Open the drawer.'] };

/** What the harness writes when an episode ends: the simulator's or the sensors' verdict, never the planner's word. */
interface Result {
  success: boolean;
  /** Turn (from 0) whose actions reached the goal. */
  successTurn?: number;
  /** Set when the simulator, a server or a device failed. */
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
        'harness.py',
        ...['--suite', episode.suite, '--task', String(episode.taskIndex), '--init', String(episode.init)],
        ...['--max-turns', String(episode.limits.turns), '--out', episode.outputDir],
      ],
      cwd: context.adapterDir,
      // The harness's model client talks to the recording proxy as it would to any OpenAI-compatible server.
      env: { OPENAI_BASE_URL: episode.baseUrl, OPENAI_API_KEY: episode.apiKey, OPENAI_MODEL: episode.model },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const invalid = (invalidReason: string) => ({ task, init, attempt, reward: 0, valid: false, invalidReason });
    const result = output.readJson('result.json') as Result | undefined;
    // A limit of the config ended it before it could write: the planner took too long.
    if (result === undefined && output.timedOut) return { task, init, attempt, reward: 0, valid: true };
    if (result === undefined) return invalid(`no result.json (exit code ${output.exitCode})`);
    if (result.infrastructureFailure !== undefined) return invalid(result.infrastructureFailure);
    const { success, successTurn } = result;
    return { task, init, attempt, reward: success ? 1 : 0, valid: true, successTurn };
  },
});
