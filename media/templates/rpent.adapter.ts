// Adapter of RPent (https://github.com/RLinf/RPent), the harness of Harness VLA, on LIBERO-PRO. Written from RPent's
// sources at 8c318fb; check the command's options against your version with `rpent --help`.
//
// Before training: start the simulator, the policy and SAM3 servers and name them in SERVERS; download the memory files
// once, because training must not change them between attempts.
import { defineAdapter } from 'agentic-robo-rl';

const SUITES = ['libero_spatial', 'libero_object', 'libero_goal', 'libero_10'].flatMap((suite) => [
  `${suite}_swap`,
  `${suite}_task`,
]);
const TASKS_A_SUITE = 10;

/** Simulator, policy and segmentation servers, for example `http://127.0.0.1:8000`. */
const SERVERS = { env: '', vla: '', sam3: '' };

/** Words in RPent's logs that mean the episode failed for reasons that are not the planner's. */
const INFRASTRUCTURE = [
  'EXCEPTION in agent loop',
  'API planner timed out after',
  'state_capture_error',
  'RPC timeout',
  'Connection refused',
];
const LOGS = ['run.log', 'env_server.log', 'vla_server.log', 'sam3_server.log'];

interface States {
  steps?: { terminated?: boolean }[];
}

export default defineAdapter({
  name: 'my-harness',
  // RPent's planner gets the instruction from the benchmark; here tasks only need to be counted.
  tasks: Object.fromEntries(
    SUITES.map((suite) => [suite, Array.from({ length: TASKS_A_SUITE }, (_, index) => `${suite} task ${index}`)]),
  ),

  // LIBERO-PRO's number of initial states a task.
  states: 50,

  launch(episode) {
    return {
      command: 'rpent',
      args: [
        ...['--env', 'libero', '--libero-type', 'pro'],
        ...['--suite', episode.suite, '--task', String(episode.taskIndex)],
        // RPent's initial state is its seed modulo the number of states.
        ...['--seed', String(episode.init)],
        ...['--planner', 'api', '--model', `openai-chat:${episode.model}`, '--base-url', episode.baseUrl],
        ...['--max-turns', String(episode.limits.turns), '--max-tokens', String(episode.limits.responseTokens)],
        ...['--planner-timeout-s', String(episode.limits.seconds)],
        ...['--output-dir', episode.outputDir],
        ...Object.entries(SERVERS).flatMap(([name, url]) => (url ? [`--${name}-endpoint`, url] : [])),
      ],
      env: {
        OPENAI_API_KEY: episode.apiKey,
        OPENAI_BASE_URL: episode.baseUrl,
        // Otherwise RPent synchronises its memory in the middle of a run, and attempts of a group stop being comparable.
        HF_HUB_OFFLINE: '1',
      },
    };
  },

  outcome(output) {
    const { task, init, attempt } = output.episode;
    const invalid = (invalidReason: string) => ({ task, init, attempt, reward: 0, valid: false, invalidReason });
    const files = output.list();
    const find = (name: string) => files.find((file) => file === name || file.endsWith(`/${name}`));

    const statesFile = find('states.json');
    const states = statesFile === undefined ? undefined : (output.readJson(statesFile) as States);
    const steps = states?.steps ?? [];
    if (output.timedOut) return { task, init, attempt, reward: 0, valid: true };
    for (const name of LOGS) {
      const file = find(name);
      const text = file === undefined ? '' : (output.readText(file) ?? '');
      const word = INFRASTRUCTURE.find((each) => text.includes(each));
      if (word !== undefined) return invalid(`${name}: ${word}`);
    }
    if (steps.length === 0) return invalid(`no steps in states.json (exit code ${output.exitCode})`);
    // The benchmark's own verdict. finish(status) is only what the planner believes.
    return { task, init, attempt, reward: steps[steps.length - 1].terminated === true ? 1 : 0, valid: true };
  },
});
