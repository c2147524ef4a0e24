/**
 * The training config (`*.training.yaml`): one place for every key, its type, range, default, meaning and source.
 * `docs/config.md` and the editor's completion are generated from this schema.
 * Sources: "paper" is AgenticRoboRL (arXiv 2610.28589); "ours" marks a choice the paper does not make.
 */
import { z } from 'zod';
import { stateSet, taskSet } from './states.ts';

/** Meaning, source of the default and unit of one key; read back by the documentation generator. */
export interface KeyMeta {
  description: string;
  source?: string;
  unit?: string;
  [key: string]: unknown;
}

function key<T extends z.ZodType>(schema: T, description: string, source?: string, unit?: string): T {
  const meta: KeyMeta = { description };
  if (source) meta.source = source;
  if (unit) meta.unit = unit;
  return schema.meta(meta) as T;
}

const positive = z.number().positive().finite();
const count = z.number().int().positive();
const webUrl = z.url({ protocol: /^https?$/ });
const countOrZero = z.number().int().nonnegative();
const fraction = z.number().min(0).max(1);
const betas = z.tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)]);
const environmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not the secret itself');

function sampling(defaults: { topP: number; topK: number; presencePenalty: number }, source: string) {
  return z.strictObject({
    temperature: key(z.number().min(0).max(5).default(1), 'Sampling temperature.', source),
    topP: key(
      z.number().gt(0).max(1).default(defaults.topP),
      'Nucleus sampling: smallest set of tokens with this probability mass; 1 switches it off.',
      source,
    ),
    topK: key(
      z.number().int().min(-1).default(defaults.topK),
      'Only the k most likely tokens; -1 switches it off.',
      source,
    ),
    presencePenalty: key(
      z.number().min(-2).max(2).default(defaults.presencePenalty),
      'Subtracted from the logit of every token already in the response.',
      source,
    ),
  });
}

const optimizer = (learningRate: number, batch: number, source: string, what: string) => ({
  learningRate: key(
    positive
      .max(1, 'must be at most 1; usual are 1e-6 to 1e-4 for a trained planner, 1e-4 to 4e-3 for a small fresh one')
      .default(learningRate),
    'Peak learning rate of AdamW.',
    source,
  ),
  batch: key(count.default(batch), what, source),
  betas: key(betas.default([0.9, 0.999]), "AdamW's decay rates of the first and second moment.", source),
  epsilon: key(positive.default(1e-8), "AdamW's epsilon.", source),
  weightDecay: key(z.number().min(0).default(0), "AdamW's decoupled weight decay.", source),
  clipNorm: key(positive.default(1), 'Gradients are scaled down to this global norm.', source),
});

export const initSchema = z.strictObject({
  layers: key(count.default(4), 'Decoder layers.', 'ours'),
  hidden: key(count.default(192), 'Width of the residual stream.', 'ours'),
  intermediate: key(count.default(576), 'Width of the feed-forward layer.', 'ours'),
  heads: key(count.default(6), 'Query heads.', 'ours'),
  kvHeads: key(count.default(3), 'Key and value heads; must divide `heads`.', 'ours'),
  vocabulary: key(
    z.number().int().min(300).max(65536).default(1024),
    'Tokens of the byte-level BPE that is trained on harness text.',
    'ours',
  ),
  context: key(
    z.number().int().min(64).max(131072).default(2048),
    'Longest sequence, prompt and response together.',
    'ours',
    'tokens',
  ),
});

const upstream = z.enum(['embedded', 'vllm', 'sglang', 'llamacpp', 'openai']);

export const configSchema = z.strictObject({
  version: key(z.literal(1), 'Version of this format.'),
  name: key(
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
        'may hold letters, digits, ".", "_" and "-" (64 at most) and starts with a letter or digit',
      ),
    'Name of the run; part of its folder.',
  ),
  preset: key(
    z.enum(['rpent', 'cap-x']).optional(),
    "The paper's settings for one of its two harnesses, under the keys written here.",
    'paper, appendix C',
  ),
  seed: key(
    z
      .number()
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .default(0),
    'Seeds every random choice of the run.',
    'ours',
  ),
  planner: key(
    z
      .strictObject({
        checkpoint: key(
          z.string().min(1).optional(),
          'Hugging Face folder of the planner to train, relative to this file.',
        ),
        init: key(
          initSchema.optional(),
          'A fresh, randomly initialised planner of this size instead of a checkpoint.',
          'ours',
        ),
      })
      .prefault({}),
    'The model that is trained. Give `checkpoint` or `init`; with neither, `init` with its defaults.',
  ),
  harness: key(
    z.strictObject({
      adapter: key(
        z.string().min(1),
        'A shipped adapter (tabletop-skills, result-json, ...) or the path of one, relative to this file.',
      ),
      suites: key(
        z.array(z.string().min(1)).min(1),
        "Task suites to train and evaluate on; the adapter's own list says which exist.",
      ),
      tasks: key(
        z
          .union([z.literal('all'), z.record(z.string(), taskSet)])
          .meta({ wording: 'all, or task indices for each suite, such as { SUITE: 0-4 }' })
          .default('all'),
        'All tasks, or task indices per suite.',
        'ours',
      ),
      concurrency: key(z.number().int().min(1).max(1024).default(2), 'Episodes that run at the same time.', 'ours'),
      limits: key(
        z
          .strictObject({
            turns: key(count.default(100), 'Planner calls an episode may make.', 'paper, C.4'),
            seconds: key(positive.default(7200), 'Wall-clock time of one episode.', 'paper, C.4', 'seconds'),
            responseTokens: key(
              count.default(4096),
              'Longest single response.',
              'ours (32,768 with preset cap-x: paper, C.4)',
              'tokens',
            ),
            idleSeconds: key(
              positive.default(600),
              'No call and no output for this long is a hang: the episode is invalid.',
              'ours',
              'seconds',
            ),
          })
          .prefault({}),
        'Limits of one episode. Reaching turns, seconds or tokens is a valid failure.',
      ),
    }),
    'The robot harness, reached only through its adapter and the recording proxy.',
  ),
  serving: key(
    z
      .strictObject({
        upstream: key(
          upstream.default('embedded'),
          'The server behind the recording proxy; this version trains and evaluates with embedded.',
          'ours',
        ),
        url: key(
          webUrl.nullable().default(null),
          "Base URL of the server's OpenAI-compatible API; not with `embedded`.",
        ),
        model: key(z.string().nullable().default(null), 'Model name to ask that server for.'),
        apiKeyEnvironment: key(
          environmentName.nullable().default(null),
          "Environment variable that holds the server's key.",
          'ours',
        ),
        deterministic: key(
          z.boolean().default(false),
          'Results independent of timing and batch composition, at some cost in speed.',
          'ours',
        ),
        proxy: key(
          z
            .strictObject({
              listen: key(
                z
                  .string()
                  .regex(
                    /^(?:[A-Za-z0-9][A-Za-z0-9.-]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/,
                    'must be an address or host name without a port; the port is chosen anew each time',
                  )
                  .default('127.0.0.1'),
                'Address the recording proxy listens on. Anything but loopback lets other machines reach it.',
                'ours',
              ),
            })
            .prefault({}),
          'The recording proxy.',
        ),
      })
      .prefault({}),
    'How the planner is served.',
  ),
  splits: key(
    z
      .strictObject({
        memory: key(stateSet.prefault([0]), 'States a teacher may explore to build its memory.', 'paper, 4.1'),
        evaluation: key(stateSet.prefault('1-10'), 'Held-out states for the final comparison.', 'paper, 4.1'),
        training: key(stateSet.prefault('11-44'), 'States for teacher episodes and rollouts.', 'paper, 4.1'),
        validation: key(stateSet.prefault('45-49'), 'States for checkpoint and task selection.', 'paper, 4.1'),
      })
      .prefault({}),
    'Initial states by purpose; they may not overlap.',
  ),
  teacher: key(
    z
      .strictObject({
        upstream: key(
          z.enum(['scripted', 'vllm', 'sglang', 'llamacpp', 'openai']).default('scripted'),
          "Who demonstrates: the shipped harness's scripted expert or a served model.",
          'ours',
        ),
        url: key(webUrl.nullable().default(null), "Base URL of the teacher's API; not with `scripted`."),
        model: key(z.string().nullable().default(null), 'Model name to ask that server for.'),
        apiKeyEnvironment: key(
          environmentName.nullable().default(null),
          "Environment variable that holds the teacher's key.",
          'ours',
        ),
        memory: key(z.literal('none').default('none'), 'Whether the teacher works with a memory module.', 'ours'),
        episodesPerTask: key(
          count.default(10),
          'Teacher episodes of each task, over the training states in a seeded order.',
          'ours',
        ),
      })
      .prefault({}),
    'Where the episodes for supervised fine-tuning come from.',
  ),
  sft: key(
    z
      .strictObject({
        ...optimizer(1e-5, 64, 'paper, C.1', 'Target turns an optimizer step.'),
        warmupSteps: key(countOrZero.default(10), 'Steps over which the learning rate rises linearly.', 'paper, C.1'),
        schedule: key(
          z.enum(['cosine', 'constant']).default('cosine'),
          'Course of the learning rate after the warm-up.',
          'paper, C.1',
        ),
        finalRate: key(fraction.default(0.1), 'Learning rate at the end, as a share of the peak.', 'paper, C.1'),
        epochs: key(count.default(1), 'Passes over the targets.', 'paper, C.1'),
        promptLossWeight: key(
          z.number().min(0).max(100).default(0),
          'Weight of the mean loss over the tokens that the planner reads (instructions, tools, observations), each counted once an episode, beside the mean over its responses; 0 trains on responses alone, as the paper does. A planner from random weights learns from it to find names again.',
          'ours',
        ),
        checkpoints: key(
          z.number().int().min(1).max(99).default(10),
          'Checkpoints compared on the validation states; k of n is taken at floor(k * steps / n).',
          'paper, C.1',
        ),
        memoryRecipe: key(
          z.enum(['rewrite-and-filter', 'mask-only', 'none']).default('rewrite-and-filter'),
          'What happens to responses that lean on a memory the student lacks; without a teacher memory all three are the same.',
          'paper, 3.3.1',
        ),
      })
      .prefault({}),
    'Supervised fine-tuning on successful teacher episodes (eq. 3).',
  ),
  rl: key(
    z
      .strictObject({
        rounds: key(countOrZero.default(9), 'Rounds of collecting, building samples and updating.', 'paper, C.2'),
        groupsPerRound: key(count.default(64), 'Groups (one task with one initial state) a round.', 'paper, C.2'),
        attemptsPerGroup: key(
          z
            .number()
            .int()
            .min(2, 'must be at least 2: the leave-one-out advantage (eq. 4) compares attempts of one group')
            .default(6),
          'Attempts of each group.',
          'paper, C.2',
        ),
        ...optimizer(1e-6, 128, 'paper, C.2', 'Selected responses an optimizer step.'),
        finalRate: key(
          z.number().gt(0).max(1).default(1),
          "Learning rate of the last round as a share of the first's, with a straight line between. Below 1 it takes the noise of the steps out of a small planner, as the end of fine-tuning does; the paper keeps the rate.",
          'ours',
        ),
        freeze: key(
          z.array(z.string()).default([]),
          'Further tensors that keep their values in this stage: prefixes of Hugging Face names. In a small planner the lower layers get little but noise from a round; holding them lets the rest take larger steps.',
          'ours',
        ),
        passes: key(count.default(1), 'Passes over the samples of a round.', 'paper, C.2'),
        maxResponsesPerEpisode: key(
          count.default(16),
          'Responses of one episode that may be selected.',
          'paper, 3.3.2',
        ),
        selection: key(z.literal('uniform').default('uniform'), 'How they are chosen among the eligible ones.', 'ours'),
        maxTokens: key(count.default(32768), 'Prompt and response of a sample together.', 'ours', 'tokens'),
        postSuccess: key(
          z.enum(['drop', 'keep']).default('keep'),
          'Responses given after the goal was reached. With `drop`, a call that ends the episode is trained on only where it failed, and the planner unlearns to come to an end: for harnesses that play on after success of themselves.',
          'ours (a filter of the paper, 3.3.2)',
        ),
        advantage: key(
          z.enum(['leave-one-out', 'permuted-control']).default('leave-one-out'),
          'Reward less the mean reward of the other valid attempts of the group. `permuted-control` deals these advantages out anew among the episodes of the round: a run that must not learn, to check one that does.',
          'paper, eq. 4',
        ),
        clip: key(
          z
            .strictObject({
              low: key(z.number().gt(0).lt(1).default(0.2), 'epsilon-minus of eq. 7.', 'paper, appendix A'),
              high: key(z.number().gt(0).default(0.28), 'epsilon-plus of eq. 7.', 'paper, appendix A'),
              dual: key(
                z
                  .number()
                  .gt(1, 'must be above 1 (dual clip bounds the loss of negative advantages at -d A)')
                  .default(3),
                'd of eq. 7.',
                'paper, appendix A',
              ),
            })
            .prefault({}),
          'Clipping of the probability ratio.',
        ),
        importanceCap: key(
          z.number().min(1, 'must be at least 1').default(2),
          'C of eq. 6: cap of the serving-to-trainer importance weight.',
          'paper, appendix A',
        ),
        taskPool: key(
          z.enum(['all', 'solved-1-to-4-of-5']).default('all'),
          'Tasks that groups are drawn from; the second rule keeps those solved sometimes, but not always, on validation.',
          'paper, C.3',
        ),
        validateEvery: key(count.default(1), 'Rounds between evaluations on the validation states.', 'ours'),
        sampling: key(
          sampling({ topP: 1, topK: -1, presencePenalty: 0 }, 'paper, C.2').prefault({}),
          'Sampling of rollouts; anything but the plain distribution makes the recorded log-probs those of another policy.',
        ),
      })
      .prefault({}),
    'Reinforcement learning in policy-versioned rounds (eq. 4-7).',
  ),
  evaluation: key(
    z
      .strictObject({
        states: key(
          z.union([z.literal('evaluation'), stateSet]).default('evaluation'),
          'States of the final comparison.',
          'paper, 4.1',
        ),
        selectionStates: key(
          z.union([z.literal('validation'), stateSet]).default('validation'),
          'States on which checkpoints are chosen.',
          'paper, 4.1',
        ),
        episodesPerState: key(count.default(1), 'Episodes of each task and state.', 'paper, 4.1'),
        sampling: key(
          sampling({ topP: 0.95, topK: 20, presencePenalty: 1.5 }, 'paper, C.4').prefault({}),
          'Sampling of validation and evaluation episodes.',
        ),
      })
      .prefault({}),
    'Validation and the final table.',
  ),
  trainer: key(
    z
      .strictObject({
        engine: key(
          z.enum(['onnx', 'tfjs', 'tinker']).default('onnx'),
          'What computes losses and gradients; this version has onnx.',
          'ours',
        ),
        device: key(z.enum(['auto', 'cpu', 'cuda', 'webgpu']).default('auto'), 'Where it runs.', 'ours'),
        url: key(webUrl.nullable().default(null), 'Server of the tinker engine.'),
        lora: key(
          z
            .strictObject({ rank: key(count, 'Rank of the low-rank update.') })
            .nullable()
            .default(null),
          'Low-rank training (tinker engine); not in this version.',
        ),
        freeze: key(
          z.array(z.string()).default([]),
          'Tensors that keep their values: prefixes of Hugging Face names.',
          'paper, C.1 (its vision encoder stays frozen)',
        ),
      })
      .prefault({}),
    'The training engine.',
  ),
});

/** A config as a program uses it: every default filled in, state sets expanded. */
export type TrainingConfig = z.output<typeof configSchema>;
/** A config as a person writes it. */
export type WrittenConfig = z.input<typeof configSchema>;
export type SamplingConfig = TrainingConfig['rl']['sampling'];
export type PlannerInit = z.output<typeof initSchema>;

/** The planner of a config that names neither a checkpoint nor a size. */
export const defaultPlannerInit: PlannerInit = initSchema.parse({});

/** Keys each preset sets beneath what the file says. */
export const presets: Record<'rpent' | 'cap-x', Record<string, unknown>> = {
  rpent: {
    harness: { limits: { turns: 100, seconds: 7200 } },
    evaluation: { sampling: { temperature: 1, topP: 0.95, topK: 20, presencePenalty: 1.5 } },
  },
  'cap-x': {
    harness: { limits: { responseTokens: 32768 } },
    sft: { memoryRecipe: 'none' },
    rl: { rounds: 15, taskPool: 'solved-1-to-4-of-5' },
    evaluation: { sampling: { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 } },
  },
};

/** `over` on top of `under`, objects merged key by key. */
export function mergeUnder(over: unknown, under: unknown): unknown {
  const plain = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);
  if (!plain(over) || !plain(under)) return over === undefined ? under : over;
  const merged: Record<string, unknown> = { ...over };
  for (const [name, value] of Object.entries(under)) merged[name] = mergeUnder(over[name], value);
  return merged;
}
