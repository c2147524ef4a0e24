/** What a field means in the paper, and where the known harnesses take it from (appendix B, table 5). */
import type { AdapterOptions, Hover, Position } from '../contract.ts';
import { fieldsOf, type Owner } from './fields-at.ts';

const OUTCOME: Record<string, string> = {
  task: [
    '**task**: the task, `suite/index`. With `init` it defines the group whose attempts are compared (eq. 4).',
    '- RPent: suite and task index\n- CaP-X: suite and task index\n- tabletop-skills: as asked for, checked against `result.json`',
  ].join('\n\n'),
  init: [
    '**init**: the initial state, a whole number. The same task and state is the same scene in every attempt.',
    '- RPent: the initial-state seed (`--seed`)\n- CaP-X: the trial index, which fixes the initial state\n- tabletop-skills: the number of the seeded scene',
  ].join('\n\n'),
  attempt: [
    '**attempt**: which repeat of the task and state this is.',
    '- RPent: the attempt index\n- CaP-X: the attempt index\n- tabletop-skills: as asked for',
  ].join('\n\n'),
  reward: [
    '**reward**: the terminal reward R, 1 for success and 0 for failure. It is the only reward; the advantage is R less the mean of the other valid attempts (eq. 4).',
    "- RPent: the simulator's check (`terminated` of the last step in `states.json`), not the planner's `finish`\n- CaP-X: the task-completion flag of the trial (`taskcompleted_1`)\n- tabletop-skills: `success` in `result.json`, read from the simulator",
  ].join('\n\n'),
  valid: [
    '**valid**: false for failures of the infrastructure only; such episodes are left out. A planner that fails, writes wrong code or reaches a limit is valid with reward 0.',
    '- RPent: false when a server, an RPC or the capture of a state failed\n- CaP-X: false when no trial was left or a perception service was down; errors in generated code are valid failures\n- tabletop-skills: false when the model’s endpoint or the world failed',
  ].join('\n\n'),
  successTurn:
    '**successTurn**: the turn (from 0) whose actions reached the goal. Later responses are trained on, unless `rl.postSuccess` is `drop`.',
  invalidReason: '**invalidReason**: why the episode is left out, for reports.',
  trajectory: '**trajectory**: a file in the output folder with body poses, for replay.',
};
const ADAPTER: Record<string, string> = {
  name: '**name**: how runs and reports call this harness.',
  tasks:
    '**tasks**: suites, and for each the instruction of every task in order; a task is `suite/index` in every record.',
  states:
    '**states**: the number of initial states a task has, or one number for each suite. Configs that name others are refused.',
  launch:
    '**launch**: tells which process plays one episode. It starts nothing, and changes no tool, prompt or loop of the harness (section 3, "Harness adapter").',
  outcome:
    '**outcome**: turns what an episode left into the five fields. Plain conversion code without learnable parts.',
  onUpstreamFailure:
    "**onUpstreamFailure**: what the harness gets when the planner's server fails: the error as it is (`pass`), or one that stops its retrying (`fail-fast`).",
  scriptedTeacher: '**scriptedTeacher**: how a scripted demonstrator is started, where the harness ships one.',
};
const PROCESS: Record<string, string> = {
  command: '**command**: the program alone. No shell is involved.',
  args: '**args**: a list of texts, one an argument. Other users of the machine can read them: no key belongs here.',
  env: '**env**: variables added to the environment. The planner’s address is `episode.baseUrl`, its key `episode.apiKey`.',
  cwd: '**cwd**: the folder the process starts in.',
};
const LAUNCH: Record<string, string> = {
  worker: '**worker**: a process that plays one episode after another; those with the same `worker` share processes.',
  episode: '**episode**: the JSON line the worker reads for one episode.',
};
const MEANING: Record<Owner, Record<string, string>> = {
  adapter: ADAPTER,
  outcome: OUTCOME,
  launch: LAUNCH,
  process: PROCESS,
};

/** Undefined where no field's name lies under the position. */
export function adapterHover(text: string, position: Position, options: AdapterOptions = {}): Hover | undefined {
  const found = fieldsOf(text, options);
  if (!found) return undefined;
  const offset = found.syntax.offset(position);
  const field = found.fields.find(
    ({ nameNode }) => nameNode.getStart(found.syntax.source) <= offset && offset <= nameNode.end,
  );
  const contents = field && MEANING[field.owner][field.name];
  return contents ? { contents, range: found.syntax.range(field.nameNode) } : undefined;
}
