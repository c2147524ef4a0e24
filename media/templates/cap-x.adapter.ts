// Adapter of CaP-X (https://github.com/capgym/cap-x). Written from CaP-X's sources at 53e9966; check options and the names
// of its output folders against your version. Image differencing and the parallel ensemble must be off in its configs.

import { defineAdapter } from 'agentic-robo-rl';

/** Suite -> the instruction of each task; task 0 of `libero_goal` uses `configs/libero_goal_0.yaml` beside this file. */
const TASKS = { libero_goal: ['open the middle drawer of the cabinet', 'put the bowl on the stove'] };

/** One trial of a config: CaP-X counts trials from 1, and the trial's number is the seed of its scene. */
const LAUNCHER = `
import os, subprocess, sys, yaml
config, trial, out, *options = sys.argv[1:]
with open(config) as file:
    settings = yaml.safe_load(file)
settings["resume_idx"] = int(trial)
path = os.path.join(out, "config.yaml")
with open(path, "w") as file:
    yaml.safe_dump(settings, file)
options += ["--api-key", os.environ["OPENAI_API_KEY"]]
sys.exit(subprocess.call([sys.executable, "capx/envs/launch.py", "--config-path", path,
    "--total-trials", trial, "--num-workers", "1", "--output-dir", out, *options]))
`;

/** Where CaP-X is checked out. */
const CAPX = '/path/to/cap-x';

/** Words on its standard error that mean the trial failed for reasons that are not the planner's. */
const INFRASTRUCTURE = ['timed out after', 'failed with error', 'failed during setup', 'Connection refused'];

export default defineAdapter({
  name: 'my-harness',
  tasks: TASKS,
  states: 50,
  // CaP-X repeats calls that a server failed for ever; this error stops it.
  onUpstreamFailure: 'fail-fast',

  launch(episode, context) {
    return {
      command: 'python',
      args: [
        ...['-c', LAUNCHER, `${context.adapterDir}/configs/${episode.suite}_${episode.taskIndex}.yaml`],
        ...[String(episode.init + 1), episode.outputDir],
        ...['--model', episode.model, '--server-url', `${episode.baseUrl}/chat/completions`],
        ...['--max-tokens', String(episode.limits.responseTokens)],
      ],
      cwd: CAPX,
      env: { OPENAI_API_KEY: episode.apiKey },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const invalid = (invalidReason: string) => ({ task, init, attempt, reward: 0, valid: false, invalidReason });
    // A trial is a folder that is named by its result: ..._sandboxrc_0_reward_1.000_taskcompleted_1
    const verdicts = new Set<string>();
    for (const file of output.list()) {
      const verdict = /(?:^|\/)trial_\d+_sandboxrc_-?\d+_reward_[-\d.]+_taskcompleted_([01])\//.exec(file)?.[1];
      if (verdict !== undefined) verdicts.add(verdict);
    }
    if (verdicts.size === 0 && output.timedOut) return { task, init, attempt, reward: 0, valid: true };
    const trouble = INFRASTRUCTURE.find((words) => output.stderrTail.includes(words));
    if (trouble !== undefined) return invalid(`CaP-X: ${trouble}`);
    if (verdicts.size === 0) return invalid(`no folder of a trial (exit code ${output.exitCode})`);
    if (verdicts.size > 1) return invalid('several folders of the trial with different results');
    return { task, init, attempt, reward: verdicts.has('1') ? 1 : 0, valid: true };
  },
});
