// Adapter of an evaluation script of the LIBERO family that writes logs: LIBERO-PRO's episodes.jsonl, or lines such as
// "Success: True" on standard output. Change the command and its options to your script's.

import { defineAdapter } from 'agentic-robo-rl';

const SUITES = ['libero_spatial', 'libero_object', 'libero_goal', 'libero_10'].flatMap((suite) => [
  `${suite}_swap`,
  `${suite}_task`,
]);
const TASKS_A_SUITE = 10;

/** A line of episodes.jsonl, as far as it is needed. */
interface Episode {
  success: boolean;
  init_state_id: number;
  /** `success`, `max_steps`, `episode_timeout`, or an exception's name and text. */
  termination_reason: string;
}
const ENDS = ['success', 'max_steps', 'episode_timeout'];

export default defineAdapter({
  name: 'my-harness',
  // The script tells the planner its instruction; here tasks only need to be counted.
  tasks: Object.fromEntries(
    SUITES.map((suite) => [suite, Array.from({ length: TASKS_A_SUITE }, (_, index) => `${suite} task ${index}`)]),
  ),
  states: 50,

  launch(episode, context) {
    return {
      command: 'python',
      args: [
        'evaluate.py',
        ...['--task_suite_name', episode.suite, '--task_id', String(episode.taskIndex)],
        ...['--init_state_id', String(episode.init), '--num_trials', '1', '--output_dir', episode.outputDir],
      ],
      cwd: context.adapterDir,
      env: { OPENAI_BASE_URL: episode.baseUrl, OPENAI_API_KEY: episode.apiKey, OPENAI_MODEL: episode.model },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const invalid = (invalidReason: string) => ({ task, init, attempt, reward: 0, valid: false, invalidReason });
    const lines = (output.readText('episodes.jsonl') ?? '').split('\n').filter((line) => line.trim() !== '');
    const last = lines.pop();
    if (last !== undefined) {
      const record = JSON.parse(last) as Episode;
      if (record.init_state_id !== init) return invalid(`it played state ${record.init_state_id}, not ${init}`);
      if (!ENDS.includes(record.termination_reason)) return invalid(record.termination_reason);
      return { task, init, attempt, reward: record.success ? 1 : 0, valid: true };
    }
    // Scripts that only print. They count an exception as a failed task; it is none.
    const exception = /Caught exception: .*/.exec(output.stdoutTail)?.[0];
    if (exception !== undefined) return invalid(exception);
    const verdict = /Success: (True|False)/.exec(output.stdoutTail)?.[1];
    if (verdict === undefined && output.timedOut) return { task, init, attempt, reward: 0, valid: true };
    if (verdict === undefined) return invalid(`neither episodes.jsonl nor a verdict (exit code ${output.exitCode})`);
    return { task, init, attempt, reward: verdict === 'True' ? 1 : 0, valid: true };
  },
});
