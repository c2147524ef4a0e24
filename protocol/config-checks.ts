/** Errors that need more than one key of a config to see. */
import type { TrainingConfig } from './config.ts';

export interface CrossFieldProblem {
  path: (string | number)[];
  code: string;
  severity: 'error' | 'warning';
  message: string;
}

type SplitName = keyof TrainingConfig['splits'];

/** `states 3, 4 are` or `state 3 is` */
function stateList(states: number[]): string {
  const listed = states.slice(0, 5).join(', ') + (states.length > 5 ? `, ... (${states.length} in all)` : '');
  return states.length === 1 ? `state ${listed} is` : `states ${listed} are`;
}

/** @param written the config as written (with aliases resolved, without defaults). */
export function crossFieldProblems(config: TrainingConfig, written: Record<string, unknown>): CrossFieldProblem[] {
  const problems: CrossFieldProblem[] = [];
  const add = (severity: CrossFieldProblem['severity'], code: string, path: string, message: string) =>
    problems.push({ severity, code, path: path.split('.'), message });

  const splits = (written.splits ?? {}) as Record<string, unknown>;
  const names: SplitName[] = ['memory', 'training', 'validation', 'evaluation'];
  for (let i = 0; i < names.length; i++) {
    for (let j = i + 1; j < names.length; j++) {
      const others = new Set(config.splits[names[j]]);
      const common = config.splits[names[i]].filter((state) => others.has(state));
      if (common.length > 0) {
        add(
          'error',
          'overlapping-splits',
          `splits.${names[j] in splits ? names[j] : names[i]}`,
          `${stateList(common)} in both "${names[i]}" and "${names[j]}": a result on states that were trained or chosen on says nothing about new ones`,
        );
      }
    }
  }
  for (const name of names) {
    if (name !== 'memory' && config.splits[name].length === 0)
      add('error', 'empty-split', `splits.${name}`, `"${name}" has no states`);
  }
  const selection = config.evaluation.selectionStates;
  const held = config.evaluation.states === 'evaluation' ? config.splits.evaluation : config.evaluation.states;
  const heldStates = new Set(held);
  if (selection !== 'validation' && selection.some((state) => heldStates.has(state))) {
    add(
      'error',
      'selection-on-evaluation-states',
      'evaluation.selectionStates',
      'checkpoints may not be chosen on evaluation states',
    );
  }
  const trainingStates = new Set(config.splits.training);
  if (selection !== 'validation' && selection.some((state) => trainingStates.has(state))) {
    add(
      'error',
      'selection-on-training-states',
      'evaluation.selectionStates',
      'checkpoints may not be chosen on training states: there the planner repeats what it was trained on',
    );
  }
  if (
    config.evaluation.states !== 'evaluation' &&
    config.evaluation.states.some((state) => trainingStates.has(state))
  ) {
    add('error', 'evaluation-on-training-states', 'evaluation.states', 'evaluation states may not be training states');
  }

  const suites = config.harness.suites;
  for (const [index, suite] of suites.entries())
    if (suites.indexOf(suite) < index)
      add('error', 'repeated-suite', `harness.suites.${index}`, `the suite "${suite}" is listed twice`);
  if (config.harness.tasks !== 'all')
    for (const suite of Object.keys(config.harness.tasks))
      if (!suites.includes(suite))
        problems.push({
          severity: 'error',
          code: 'tasks-of-unlisted-suite',
          path: ['harness', 'tasks', suite],
          message: `"${suite}" is not among harness.suites (${suites.join(', ')})`,
        });

  const planner = (written.planner ?? {}) as Record<string, unknown>;
  if (planner.checkpoint !== undefined && planner.init !== undefined)
    add('error', 'checkpoint-and-init', 'planner.init', 'give either "checkpoint" or "init", not both');
  const init = config.planner.init;
  if (init) {
    if (init.hidden % init.heads !== 0)
      add(
        'error',
        'head-size',
        'planner.init.heads',
        `hidden (${init.hidden}) must be a multiple of heads (${init.heads})`,
      );
    else if ((init.hidden / init.heads) % 16 !== 0)
      add(
        'error',
        'head-size',
        'planner.init.heads',
        `hidden / heads is ${init.hidden / init.heads}; the attention kernel needs a multiple of 16`,
      );
    if (init.heads % init.kvHeads !== 0)
      add(
        'error',
        'head-size',
        'planner.init.kvHeads',
        `heads (${init.heads}) must be a multiple of kvHeads (${init.kvHeads})`,
      );
  }

  if (config.serving.upstream !== 'embedded' && config.serving.url === null)
    add(
      'error',
      'missing-url',
      'serving.upstream',
      `serving.url is required with upstream "${config.serving.upstream}"`,
    );
  if (config.serving.upstream === 'embedded' && config.serving.url !== null)
    add('error', 'unused-url', 'serving.url', 'the embedded server has no url; remove it or choose another upstream');
  if (config.teacher.upstream !== 'scripted' && config.teacher.url === null)
    add(
      'error',
      'missing-url',
      'teacher.upstream',
      `teacher.url is required with upstream "${config.teacher.upstream}"`,
    );
  if (config.trainer.engine === 'tinker' && config.trainer.url === null)
    add('error', 'missing-url', 'trainer.engine', 'trainer.url is required with the tinker engine');
  if (config.trainer.engine !== 'tinker' && config.trainer.lora !== null)
    add('error', 'lora-engine', 'trainer.lora', 'low-rank training needs the tinker engine');
  if (config.trainer.engine === 'tfjs' && config.trainer.device === 'webgpu')
    add('error', 'engine-device', 'trainer.device', 'the tfjs engine runs on cpu or cuda');

  const s = config.rl.sampling;
  if (s.temperature !== 1 || s.topP !== 1 || s.topK > 0 || s.presencePenalty !== 0) {
    add(
      'warning',
      'rollout-sampling',
      'rl.sampling',
      'rollouts sampled from anything but the plain distribution (temperature 1, topP 1, topK -1, no penalty) are not samples of the policy that is trained',
    );
  }
  if (config.rl.clip.dual <= 1 + config.rl.clip.high)
    add(
      'warning',
      'dual-clip-low',
      'rl.clip.dual',
      `clip.dual (${config.rl.clip.dual}) lies inside the clipping range (1 + high = ${1 + config.rl.clip.high})`,
    );
  if (
    config.serving.proxy.listen !== '127.0.0.1' &&
    config.serving.proxy.listen !== 'localhost' &&
    config.serving.proxy.listen !== '::1'
  ) {
    add(
      'warning',
      'proxy-not-loopback',
      'serving.proxy.listen',
      `the recording proxy will be reachable from other machines at ${config.serving.proxy.listen}; every request still needs its episode's key`,
    );
  }
  return problems;
}
