/**
 * The scripted expert: one response to a transcript. Its styles, drawn once an episode, and a few mistakes keep its
 * episodes from being all alike or all successful.
 */
import { Random, sha256 } from '../../../../protocol/random.ts';
import { goalOf, INITIAL_STATES, suiteNames, tasks } from '../../../tabletop/suites/registry.ts';
import type { GoalStep } from '../../../tabletop/types.ts';
import type { ChatMessage } from '../model-client.ts';
import { label } from '../observations.ts';
import { readCalls, readInstruction, type SeenObject } from './reading.ts';
import { Situation } from './situation.ts';
import { type Style, styleOf } from './style.ts';

export interface ExpertResponse {
  reasoning: string;
  tool: string;
  arguments: Record<string, unknown>;
}

/** Steps by instruction: what a sentence asks for is the same wherever it occurs. */
const PLANS: ReadonlyMap<string, GoalStep[]> = new Map(
  suiteNames().flatMap((suite) =>
    tasks(suite).map((task) => [task.instruction, goalOf(suite, task.index, INITIAL_STATES - 1)] as const),
  ),
);
/** An episode that takes longer leads nowhere. */
const MOST_CALLS = 26;
/** Looks in a row for something that is not seen. */
const MOST_LOOKS = 3;

/**
 * The expert's answer; depends on messages and seed alone.
 * @param seed of the request, if it had one.
 */
export function answerAsExpert(messages: ChatMessage[], seed?: number, style?: Style): ExpertResponse {
  const calls = readCalls(messages);
  const plan = PLANS.get(readInstruction(messages) ?? '');
  if (!plan) return finish('I do not know this task.', 'failed');
  const random = new Random('expert decision', seed ?? '', sha256(JSON.stringify(calls)));
  return new Decision(new Situation(plan, calls), style ?? styleOf(calls), random).response();
}

const look = (reasoning: string): ExpertResponse => ({ reasoning, tool: 'detect', arguments: {} });
const finish = (reasoning: string, status: 'done' | 'failed'): ExpertResponse => ({
  reasoning,
  tool: 'finish',
  arguments: { status },
});

class Decision {
  private readonly now: Situation;
  private readonly style: Style;
  private readonly random: Random;

  constructor(now: Situation, style: Style, random: Random) {
    this.now = now;
    this.style = style;
    this.random = random;
  }

  /** A mistake that comes with a share of the style's clumsiness. */
  private slips(share: number): boolean {
    return this.random.next() < this.style.clumsiness * share;
  }

  response(): ExpertResponse {
    const { now, style } = this;
    if (!now.looked) return look('I look first.');
    if (now.failures > style.patience || now.outOfReach > 1 || now.calls >= MOST_CALLS)
      return finish('It fails. I give up.', 'failed');
    const failed = /^(?!held|placed|opened|closed|released)[a-z-]+(?=;)|^error/.exec(
      now.last?.tool === 'detect' ? '' : (now.last?.answer ?? ''),
    )?.[0];
    if (failed === 'error') return look('I look again.');
    if (failed && (style.looksAfterFailure || failed === 'unreachable'))
      return look(failed === 'slipped' ? 'It slipped. I look again.' : 'It failed. I look again.');
    const index = now.step();
    if (index === now.plan.length) {
      if (style.verifies && now.stale) return look('I check.');
      return finish('All is done.', 'done');
    }
    const step = now.plan[index];
    const begun = now.last?.tool === 'place' || now.last?.tool.endsWith('_drawer');
    if (begun && now.stale && style.looksAfterSteps) return look('I check.');
    if (begun && index > 0 && this.slips(0.15)) return finish('All is done.', 'done');
    if (step.kind === 'open' || step.kind === 'close') return this.moveDrawer(index, step);
    return now.holding ? this.put(index, step) : this.take(index, step);
  }

  private moveDrawer(index: number, step: GoalStep): ExpertResponse {
    const { now } = this;
    // A mistake: it takes the object in hand although the drawer is still shut.
    const next = now.plan[index + 1];
    if (step.kind === 'open' && next?.kind === 'inside' && !now.holding && this.slips(0.5)) {
      return this.take(index + 1, next);
    }
    if (now.holding) return this.putBack();
    const drawer = now.thing(step.target!);
    if (!drawer) return this.missing('drawer');
    if (now.drawerMoved) return look('The drawer moved. I look again.');
    const verb = step.kind === 'open' ? 'open' : 'close';
    return {
      reasoning: `I ${verb} the ${drawer.name}.`,
      tool: `${verb}_drawer`,
      arguments: { drawer: drawer.name },
    };
  }

  private putBack(): ExpertResponse {
    const from = this.now.takenFrom;
    if (!from) return { reasoning: 'I need my hand.', tool: 'release', arguments: {} };
    const [x, y] = from.map((metres) => Math.round(metres * 100) + 0);
    return { reasoning: 'I need my hand. I put it back.', tool: 'place_at', arguments: { x, y } };
  }

  private take(index: number, step: GoalStep): ExpertResponse {
    const { now } = this;
    const wanted = step.object!;
    let object = now.object(index);
    if (!object || object.held) {
      if (now.drawerMoved || now.stale) return look('I look again.');
      return this.missing(label(wanted));
    }
    if (wanted.relation === undefined ? this.slips(0.2) : this.slips(0.5)) {
      const others = now.otherThan(object);
      object = others.find(({ kind }) => kind === object?.kind) ?? others[0] ?? object;
    }
    const right = object.kind === 'bowl' ? 'rim' : 'top';
    const grasp = this.slips(1) ? (right === 'rim' ? 'top' : 'rim') : right;
    return {
      reasoning: `I take ${object.name}.`,
      tool: 'pick',
      arguments: { object: object.name, grasp },
    };
  }

  private put(index: number, step: GoalStep): ExpertResponse {
    const { now, style } = this;
    const aim = step.target!;
    let target: SeenObject | undefined = now.thing(aim);
    if (!target) return this.missing(label(aim));
    if (target.kind === 'drawer' && now.drawerMoved && !this.slips(1)) return look('The drawer moved. I look again.');
    if (target.kind === 'drawer' && target.state !== 'open' && !now.stale) return this.putBack();
    if (now.last?.tool === 'pick' && style.looksBeforePlacing) return look('I have it. I look where to put it.');
    if (this.slips(0.1)) target = now.otherThan(target).find(({ name }) => name !== now.object(index)?.name) ?? target;
    const where = step.kind === 'beside' ? step.side : step.kind === 'inside' ? 'in' : 'on';
    return {
      reasoning: `It goes to ${target.name}.`,
      tool: 'place',
      arguments: { where, target: target.name },
    };
  }

  private missing(what: string): ExpertResponse {
    if (this.now.looksInARow < MOST_LOOKS) return look(`I see no ${what}. I look again.`);
    return finish(`There is no ${what}.`, 'failed');
  }
}
