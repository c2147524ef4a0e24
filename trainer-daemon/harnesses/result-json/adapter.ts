/**
 * `harness.adapter: result-json`: any command that plays one episode and writes the five fields to `result.json`.
 *
 * The command is taken from the environment variable AGENTIC_ROBO_RL_HARNESS: a JSON list such as
 * `["python", "play.py"]`, or a plain text that is split at spaces. It runs in the training config's folder and is told
 * its episode by environment variables:
 *
 * - `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL`: the planner (the names OpenAI's clients read by themselves);
 * - `EPISODE`: the whole request as JSON (task, suite, taskIndex, init, attempt, role, seed, limits, outputDir, ...);
 * - `OUTPUT_DIR`: the folder to write `result.json` into.
 *
 * `result.json` holds `{"task", "init", "attempt", "reward", "valid"}` and may hold `successTurn`, `invalidReason` and
 * `trajectory`; task, init and attempt may be left out and are then those that were asked for.
 */
import { defineAdapter, type EpisodeOutput, type Outcome, type ProcessSpec } from '../../../protocol/adapter.ts';

const VARIABLE = 'AGENTIC_ROBO_RL_HARNESS';
const EXAMPLE = `for example ${VARIABLE}='["python", "play.py"]'`;

function harnessCommand(written: string | undefined): string[] {
  if (written === undefined || written.trim() === '')
    throw new Error(`the environment variable ${VARIABLE} must hold the harness's command, ${EXAMPLE}`);
  if (!written.trim().startsWith('[')) return written.trim().split(/\s+/);
  let parsed: unknown;
  try {
    parsed = JSON.parse(written);
  } catch (error) {
    throw new Error(`${VARIABLE} is not a JSON list (${(error as Error).message}); write ${EXAMPLE}`);
  }
  if (!Array.isArray(parsed) || parsed.length === 0 || parsed.some((part) => typeof part !== 'string'))
    throw new Error(`${VARIABLE} must be a JSON list of texts, ${EXAMPLE}`);
  return parsed as string[];
}

function outcome(output: EpisodeOutput): Outcome {
  const { task, init, attempt } = output.episode;
  const result = output.readJson('result.json');
  if (result === undefined) {
    return {
      task,
      init,
      attempt,
      reward: 0,
      valid: false,
      invalidReason: `the harness wrote no result.json (${output.signal ?? `exit code ${output.exitCode}`})`,
    };
  }
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new Error('result.json must hold an object with task, init, attempt, reward and valid');
  const told = result as Partial<Outcome>;
  if (told.reward === undefined) throw new Error('result.json has no "reward"');
  if (told.valid === undefined) throw new Error('result.json has no "valid"');
  // Other fields are the harness's own business.
  const { reward, valid, successTurn, invalidReason, trajectory } = told;
  return {
    task: told.task ?? task,
    init: told.init ?? init,
    attempt: told.attempt ?? attempt,
    reward,
    valid,
    ...(successTurn !== undefined && successTurn !== null ? { successTurn } : {}),
    ...(invalidReason !== undefined && invalidReason !== null ? { invalidReason } : {}),
    ...(trajectory !== undefined && trajectory !== null ? { trajectory } : {}),
  };
}

export default defineAdapter({
  name: 'result-json',
  launch(episode, context): ProcessSpec {
    const [command, ...args] = harnessCommand(process.env[VARIABLE]);
    return {
      command,
      args,
      cwd: context.workspace,
      env: {
        OPENAI_BASE_URL: episode.baseUrl,
        OPENAI_API_KEY: episode.apiKey,
        OPENAI_MODEL: episode.model,
        OUTPUT_DIR: episode.outputDir,
        EPISODE: JSON.stringify(episode),
      },
    };
  },
  outcome,
});
