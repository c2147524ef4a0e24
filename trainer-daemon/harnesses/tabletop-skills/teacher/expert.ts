/**
 * The scripted expert: one response to a transcript. Several styles, drawn once an episode, and a few mistakes, so that
 * its episodes are neither all alike nor all successful.
 */
import { Random, sha256 } from '../../../../protocol/random.ts';
import { goalOf, INITIAL_STATES, rankBy, suiteNames, tasks } from '../../../tabletop/index.ts';
import type { Description, GoalStep } from '../../../tabletop/types.ts';
import type { ChatMessage } from '../model-client.ts';
import { looksDone, type PastCall, readCalls, readDetections, readInstruction, type SeenObject } from './reading.ts';

export interface ExpertResponse {
  reasoning: string;
  tool: string;
  arguments: Record<string, unknown>;
}

interface Style {
  /** Looks again before putting down what it holds. */
  looksBeforePlacing: boolean;
  /** Looks at the result before it finishes. */
  verifies: boolean;
  /** Failures of one step it puts up with. */
  patience: number;
  /** Chance of a wrong grasp. */
  clumsiness: number;
}

/** Steps by instruction: what a sentence asks for is the same wherever it occurs. */
const PLANS: ReadonlyMap<string, GoalStep[]> = new Map(
  suiteNames().flatMap((suite) =>
    tasks(suite).map((task) => [task.instruction, goalOf(suite, task.index, INITIAL_STATES - 1)] as const),
  ),
);

/** The expert's answer; depends on the messages alone. */
export function answerAsExpert(messages: ChatMessage[]): ExpertResponse {
  const calls = readCalls(messages);
  const plan = PLANS.get(readInstruction(messages) ?? '');
  if (!plan) return { reasoning: 'I do not know this task.', tool: 'finish', arguments: { status: 'failed' } };
  const style = styleOf(calls);
  const random = new Random(
    'expert decision',
    sha256(JSON.stringify(messages.map((message) => [message.role, message.content, message.tool_calls]))),
  );
  return new Situation(plan, calls, style).decide(random);
}

/** The noise of the first look differs from attempt to attempt, and with it the style. */
function styleOf(calls: PastCall[]): Style {
  const random = new Random('expert style', calls[0]?.answer ?? '');
  return {
    looksBeforePlacing: random.next() < 0.25,
    verifies: random.next() < 0.5,
    patience: random.pick([0, 1, 2, 2]),
    clumsiness: random.pick([0, 0, 0.1, 0.3]),
  };
}

const spoken = (description: Description): string => `${description.colour} ${description.kind}`.trim();

/** What is known and done after the calls so far. */
class Situation {
  private readonly plan: GoalStep[];
  private readonly style: Style;
  private seen: SeenObject[] = [];
  private looked = false;
  /** Something was moved since the last look. */
  private stale = false;
  private holding = false;
  /** Index of the step being worked on. */
  private step = 0;
  private failures = 0;
  private looksInVain = 0;
  private verified = false;
  private lastAnswer = '';

  constructor(plan: GoalStep[], calls: PastCall[], style: Style) {
    this.plan = plan;
    this.style = style;
    for (const call of calls) this.replay(call);
  }

  private replay(call: PastCall): void {
    const { answer } = call;
    this.lastAnswer = answer;
    if (call.tool === 'detect') {
      this.seen = readDetections(answer);
      this.looked = true;
      this.looksInVain = this.stale ? 0 : this.looksInVain + 1;
      this.stale = false;
      if (this.step >= this.plan.length) this.check();
      return;
    }
    this.stale = true;
    this.holding = answer.includes('holding');
    const step = this.plan[this.step];
    const succeeded = /^(placed|opened|closed);/.test(answer);
    if (call.tool === 'pick') {
      if (!answer.startsWith('held')) this.failures++;
      return;
    }
    if (!succeeded) {
      this.failures++;
      return;
    }
    if (call.tool === 'open_drawer' && step && step.kind !== 'open') return;
    this.step++;
    this.failures = 0;
  }

  /** After the last step: what does not look done is taken up again. */
  private check(): void {
    const undone = this.plan.findIndex((step, i) => this.lasting(i) && this.appears(step) === false);
    if (undone < 0) {
      this.verified = true;
      return;
    }
    this.failures++;
    if (this.failures <= this.style.patience) this.step = undone;
    else this.verified = true;
  }

  /** Whether a step's result must still hold at the end (an opened drawer may be closed later). */
  private lasting(index: number): boolean {
    const step = this.plan[index];
    return !(
      step.kind === 'open' &&
      this.plan
        .slice(index + 1)
        .some((later) => later.kind === 'close' || later.kind === 'on' || later.kind === 'inside')
    );
  }

  private appears(step: GoalStep): boolean | undefined {
    // Once moved, an object is no longer where its relation was.
    const object = step.object && this.find({ ...step.object, relation: undefined }, step);
    return looksDone(step, object, step.target && this.find(step.target));
  }

  private find(description: Description, placed?: GoalStep): SeenObject | undefined {
    if (placed && description.relation === undefined) {
      // Of like objects, the one nearest to where it should be.
      const target = placed.target && this.find(placed.target);
      const alike = this.seen.filter(
        (object) =>
          object.kind === description.kind && (description.colour === '' || object.colour === description.colour),
      );
      if (target && alike.length > 1) return alike.sort((a, b) => distance(a, target) - distance(b, target))[0];
    }
    return rankBy(description, this.seen).chosen;
  }

  decide(random: Random): ExpertResponse {
    if (!this.looked) return this.look('I look at the table first.');
    if (this.failures > this.style.patience && this.step < this.plan.length)
      return { reasoning: 'I give up.', tool: 'finish', arguments: { status: 'failed' } };
    const step = this.plan[this.step];
    if (!step) {
      if (this.style.verifies && !this.verified) return this.look('I check the result.');
      return { reasoning: 'All is done.', tool: 'finish', arguments: { status: 'done' } };
    }
    // After a failure things may lie elsewhere.
    if (this.failures > 0 && this.stale && !this.holding)
      return this.look(`It failed: ${this.lastAnswer.split(';')[0]}. I look again.`);
    if (step.kind === 'open' || step.kind === 'close') return this.moveDrawer(step);
    return this.holding ? this.put(step, random) : this.take(step, random);
  }

  private moveDrawer(step: GoalStep): ExpertResponse {
    const drawer = step.target && this.find(step.target);
    if (!drawer) return this.missing('drawer');
    const verb = step.kind === 'open' ? 'open' : 'close';
    return { reasoning: `I ${verb} ${drawer.name}.`, tool: `${verb}_drawer`, arguments: { drawer: drawer.name } };
  }

  private take(step: GoalStep, random: Random): ExpertResponse {
    const wanted = step.object as Description;
    if (wanted.relation !== undefined && this.stale && this.step > 0) return this.look('I look again.');
    const object = this.find(wanted);
    if (!object) {
      const drawer = this.seen.find((candidate) => candidate.kind === 'drawer');
      if (drawer?.open === false)
        return {
          reasoning: `I see no ${spoken(wanted)}; it may be in the drawer.`,
          tool: 'open_drawer',
          arguments: { drawer: drawer.name },
        };
      return this.missing(spoken(wanted));
    }
    const right = object.kind === 'bowl' ? 'rim' : 'top';
    const grasp = random.next() < this.style.clumsiness ? (right === 'rim' ? 'top' : 'rim') : right;
    const relation = wanted.relation === undefined ? '' : ` ${wanted.relation}`;
    return {
      reasoning: `The ${spoken(wanted)}${relation} is ${object.name}.`,
      tool: 'pick',
      arguments: { object: object.name, grasp },
    };
  }

  private put(step: GoalStep, random: Random): ExpertResponse {
    if (this.stale && this.style.looksBeforePlacing && random.next() < 0.9) return this.look('I look where to put it.');
    const target = this.find(step.target as Description);
    if (!target) return this.missing(spoken(step.target as Description));
    const where = step.kind === 'beside' ? step.side : step.kind;
    return {
      reasoning: `The ${spoken(step.target as Description)} is ${target.name}.`,
      tool: 'place',
      arguments: { where, target: target.name },
    };
  }

  private missing(what: string): ExpertResponse {
    if (this.looksInVain < 2 || this.stale) return this.look(`I see no ${what}; I look again.`);
    return { reasoning: `There is no ${what}.`, tool: 'finish', arguments: { status: 'failed' } };
  }

  private look(reasoning: string): ExpertResponse {
    return { reasoning, tool: 'detect', arguments: {} };
  }
}

function distance(a: SeenObject, b: SeenObject): number {
  return Math.hypot(a.position[0] - b.position[0], a.position[1] - b.position[1]);
}
