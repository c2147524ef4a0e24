/** The text of a new training config. */

/** The embedded world: the ten-minute demonstration, with other names and fewer tasks to wait for. @param demo its config. */
export function embeddedConfig(name: string, demo: string): string {
  return demo
    .replace(/^#.*\n/, '# Trains a planner of a million parameters in the embedded world: ten minutes on two cores.\n')
    .replace(/^name: .*$/m, `name: ${name}`);
}

/**
 * A harness of the user's, with a served teacher.
 * @param adapter path relative to the config, for example `./adapters/my-robot.adapter.ts`.
 * @param suites as the adapter lists them.
 */
export function harnessConfig(name: string, adapter: string, suites: readonly string[]): string {
  return `# Every key with its default and source: docs/config.md of AgenticRoboRL. Keys that are left out have the paper's values.
version: 1
name: ${name}
seed: 0
planner:
  # A Qwen3-architecture folder in Hugging Face format, or a fresh start:
  init: { layers: 4, hidden: 192, intermediate: 576, heads: 6, kvHeads: 3, vocabulary: 1024, context: 2048 }
harness:
  adapter: ${adapter}
  suites: [${suites.join(', ')}]
  concurrency: 2
  limits: { turns: 30, seconds: 600, responseTokens: 512, idleSeconds: 120 }
# Initial states: none is both trained on and evaluated on.
splits: { memory: 0, evaluation: 1-10, training: 11-44, validation: 45-49 }
# Who shows how it is done: an OpenAI-compatible server; its key comes from a variable of the environment.
teacher: { upstream: openai, url: http://127.0.0.1:8000/v1, model: my-teacher, episodesPerTask: 10 }
sft: { learningRate: 1.0e-3, batch: 16, epochs: 3 }
rl: { rounds: 3, groupsPerRound: 16, attemptsPerGroup: 4, learningRate: 1.0e-4, batch: 32 }
`;
}

/** Suites that an adapter's text lists in `const TASKS = { suite: [...] }`; what stands there otherwise is for the user to fill in. */
export function suitesIn(adapter: string): string[] {
  const list = /\bTASKS\s*(?::[^=]+)?=\s*\{([^}]*)\}/.exec(adapter)?.[1] ?? '';
  const names = [...list.matchAll(/(?:^|[,{\s])['"]?([A-Za-z]\w*)['"]?\s*:\s*\[/g)].map(([, name]) => name);
  return names.length > 0 ? names : ['my_suite'];
}
