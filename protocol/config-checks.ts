/** Errors that need more than one key of a config to see. */
import type { TrainingConfig } from './config.ts';
import type { ConfigFix } from './config-fix.ts';
import { checkProbabilities, checkServers } from './config-method-checks.ts';
import { checkPlan } from './config-plan-checks.ts';
import { nearest } from './nearest.ts';
import { stateRanges } from './states.ts';

export interface CrossFieldProblem {
  path: (string | number)[];
  /** Set where the key itself is wrong and not its value. */
  part?: 'key';
  code: string;
  severity: 'error' | 'warning' | 'hint';
  message: string;
  /** Other keys the problem rests on, dotted; written ones and ones that are left to their defaults. */
  rests?: string[];
  fix?: ConfigFix;
}

/** Tells a problem at a dotted path. */
export type Add = (
  severity: CrossFieldProblem['severity'],
  code: string,
  path: string,
  message: string,
  more?: Pick<CrossFieldProblem, 'rests' | 'fix'>,
) => void;
type SplitName = keyof TrainingConfig['splits'];

/** `states 3-4 are` or `state 3 is` */
function stateList(states: number[]): string {
  return states.length === 1 ? `state ${states[0]} is` : `states ${stateRanges(states)} are`;
}

/** @param written the config as written (with aliases resolved, without defaults). */
export function crossFieldProblems(config: TrainingConfig, written: Record<string, unknown>): CrossFieldProblem[] {
  const problems: CrossFieldProblem[] = [];
  const add: Add = (severity, code, path, message, more) =>
    problems.push({ severity, code, path: path.split('.'), message, ...more });

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
          { rests: [`splits.${names[i]}`, `splits.${names[j]}`] },
        );
      }
    }
  }
  for (const name of names) {
    if (name !== 'memory' && config.splits[name].length === 0)
      add('error', 'empty-split', `splits.${name}`, `"${name}" has no states`);
  }
  for (const [name, split] of [
    ['states', 'evaluation'],
    ['selectionStates', 'validation'],
  ] as const)
    if (config.evaluation[name].length === 0)
      add(
        'error',
        'empty-split',
        `evaluation.${name}`,
        `"${name}" has no states; leave it out for those of splits.${split}`,
        {
          fix: { title: `Take the states of splits.${split}`, safe: false, set: ['evaluation', name], value: split },
        },
      );
  checkEvaluationStates(config, add);

  const suites = config.harness.suites;
  for (const [index, suite] of suites.entries())
    if (suites.indexOf(suite) < index)
      add('error', 'repeated-suite', `harness.suites.${index}`, `the suite "${suite}" is listed twice`, {
        fix: { title: 'Remove the second mention', safe: true, remove: ['harness', 'suites', index] },
      });
  const { tasks } = config.harness;
  if (tasks !== 'all') {
    for (const suite of Object.keys(tasks)) {
      if (suites.includes(suite)) continue;
      const near = nearest(suite, suites);
      problems.push({
        severity: 'error',
        code: 'tasks-of-unlisted-suite',
        path: ['harness', 'tasks', suite],
        part: 'key',
        message: `"${suite}" is not among harness.suites (${suites.join(', ')})${near ? `; did you mean "${near}"?` : '; list it there, or remove its tasks'}`,
        rests: ['harness.suites'],
        fix:
          near && !Object.hasOwn(tasks, near)
            ? { title: `Change to ${near}`, safe: false, rename: ['harness', 'tasks', suite], to: near }
            : { title: 'Remove its tasks', safe: false, remove: ['harness', 'tasks', suite] },
      });
    }
    // What is misspelt or has a wrong value has been told already.
    const named = ((written.harness as Record<string, unknown>).tasks ?? {}) as Record<string, unknown>;
    const allKnown = Object.keys(named).every((suite) => suites.includes(suite));
    for (const [index, suite] of suites.entries())
      if (Object.hasOwn(named, suite) ? tasks[suite]?.length === 0 : allKnown)
        add(
          'error',
          'suite-without-tasks',
          `harness.suites.${index}`,
          `"harness.tasks" names no task of the suite "${suite}"; name some, or remove the suite`,
        );
  }

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

  checkWhatRuns(config, add);

  checkProbabilities(config, written, add);
  checkPlan(config, written, add);
  checkServers(config, add);
  return problems;
}

/** What the final comparison and the choice of checkpoints may be made on (paper, 4.1). */
function checkEvaluationStates(config: TrainingConfig, add: Add): void {
  const { splits, evaluation } = config;
  const held = evaluation.states === 'evaluation' ? splits.evaluation : evaluation.states;
  const selection = evaluation.selectionStates === 'validation' ? splits.validation : evaluation.selectionStates;
  const common = (a: number[], b: number[]): number[] => {
    const others = new Set(b);
    return a.filter((state) => others.has(state));
  };
  const refuse = (code: string, path: string, states: number[], why: string) => {
    const rests = ['splits', 'evaluation.states', 'evaluation.selectionStates'];
    if (states.length > 0) add('error', code, path, `${stateList(states)} ${why}`, { rests });
    return states.length > 0;
  };

  if (evaluation.selectionStates !== 'validation') {
    const at = 'evaluation.selectionStates';
    // A state that is kept for evaluation is spoilt by choosing on it, also where this config does not evaluate on it.
    const kept = [...new Set([...held, ...splits.evaluation])].sort((a, b) => a - b);
    refuse(
      'selection-on-evaluation-states',
      at,
      common(selection, kept),
      'for evaluation: checkpoints may not be chosen on evaluation states; take validation states',
    );
    refuse(
      'selection-on-training-states',
      at,
      common(selection, splits.training),
      'for training: checkpoints may not be chosen on training states, where the planner repeats what it was trained on',
    );
    refuse(
      'selection-on-memory-states',
      at,
      common(selection, splits.memory),
      "for the teacher's memory: checkpoints may not be chosen on memory states; take validation states",
    );
    const known = new Set([...kept, ...splits.training, ...splits.memory, ...splits.validation]);
    const strange = selection.filter((state) => !known.has(state));
    if (strange.length > 0)
      add(
        'warning',
        'selection-outside-validation',
        at,
        `${stateList(strange)} not in splits.validation (${stateRanges(splits.validation)}), the states that are kept for choosing checkpoints`,
        { rests: ['splits', 'evaluation.states'] },
      );
  }
  if (evaluation.states !== 'evaluation') {
    const at = 'evaluation.states';
    refuse(
      'evaluation-on-training-states',
      at,
      common(held, splits.training),
      'for training: evaluation states may not be training states',
    );
    refuse(
      'evaluation-on-memory-states',
      at,
      common(held, splits.memory),
      "for the teacher's memory: evaluation states may not be memory states",
    );
    if (evaluation.selectionStates === 'validation')
      refuse(
        'evaluation-on-selection-states',
        at,
        common(held, selection),
        'for choosing checkpoints (splits.validation): a result on states that were chosen on says nothing about new ones',
      );
  }
}

/** Servers and engines: what this version can run, and the keys that go with each. */
function checkWhatRuns(config: TrainingConfig, add: Add): void {
  const { serving, teacher, trainer } = config;
  if (serving.upstream !== 'embedded')
    add(
      'error',
      'not-in-this-version',
      'serving.upstream',
      `this version cannot train a planner that ${serving.upstream} serves: it trains and evaluates planners it serves itself; write "upstream: embedded" and remove url and model`,
      {
        fix: {
          title: 'Serve the planner here: embedded',
          safe: false,
          set: ['serving', 'upstream'],
          value: 'embedded',
          without: [
            ['serving', 'url'],
            ['serving', 'model'],
          ],
        },
      },
    );
  else if (serving.url !== null)
    add('error', 'unused-url', 'serving.url', 'the embedded server has no url; remove it', {
      rests: ['serving.upstream'],
      fix: { title: 'Remove the url', safe: true, remove: ['serving', 'url'] },
    });
  if (teacher.upstream !== 'scripted' && teacher.url === null)
    add('error', 'missing-url', 'teacher.upstream', `teacher.url is required with upstream "${teacher.upstream}"`, {
      rests: ['teacher.url'],
    });
  else if (teacher.upstream === 'scripted' && teacher.url !== null)
    add('error', 'unused-url', 'teacher.url', 'the scripted teacher has no url; remove it, or name its "upstream"', {
      rests: ['teacher.upstream'],
      fix: { title: 'Remove the url', safe: false, remove: ['teacher', 'url'] },
    });
  else if (teacher.upstream !== 'scripted' && !teacher.model?.trim())
    add('error', 'missing-model', 'teacher.upstream', `teacher.model is required with upstream "${teacher.upstream}"`, {
      rests: ['teacher.model'],
    });
  if (trainer.engine !== 'onnx')
    add(
      'error',
      'not-in-this-version',
      'trainer.engine',
      `the engine ${trainer.engine} is not in this version: use onnx (device: cpu, cuda or webgpu), which trains planners that fit one machine`,
      {
        fix: {
          title: 'Use the engine onnx',
          safe: false,
          set: ['trainer', 'engine'],
          value: 'onnx',
          without: [['trainer', 'url']],
        },
      },
    );
  else if (trainer.url !== null)
    add('error', 'unused-url', 'trainer.url', 'the onnx engine has no url; remove it', {
      rests: ['trainer.engine'],
      fix: { title: 'Remove the url', safe: true, remove: ['trainer', 'url'] },
    });
  if (trainer.lora !== null)
    add(
      'error',
      'not-in-this-version',
      'trainer.lora',
      'low-rank training is not in this version: all weights are trained, or all but those named in trainer.freeze or rl.freeze; remove "lora"',
      { fix: { title: 'Remove lora: all weights are trained', safe: false, remove: ['trainer', 'lora'] } },
    );
}
