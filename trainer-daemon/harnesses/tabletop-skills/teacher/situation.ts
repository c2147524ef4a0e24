/** What the scripted expert knows after the calls so far: what it saw, what it holds, which steps are done. */
import { rankBy } from '../../../tabletop/relations.ts';
import type { Description, GoalStep, Vec3 } from '../../../tabletop/types.ts';
import { type DrawerState, looksDone, type PastCall, readDetections, type SeenObject } from './reading.ts';

/** A thing seen this near to where another like thing was is that other one. */
const SAME_PLACE = 0.05;

export class Situation {
  readonly plan: readonly GoalStep[];
  seen: SeenObject[] = [];
  looked = false;
  /** Something was moved, or may have been, since the last look. */
  stale = false;
  /** The drawer was moved since the last look. */
  drawerMoved = false;
  holding = false;
  /** Where the thing in the hand was taken from. */
  takenFrom: Vec3 | undefined;
  /** Failures since the last success. */
  failures = 0;
  /** How often something was out of reach. */
  outOfReach = 0;
  /** Looks since the last action. */
  looksInARow = 0;
  last: PastCall | undefined;
  calls = 0;
  /** What is believed of each step: seen, or told by the skill that should have done it. */
  private readonly done: boolean[];
  /** Step that the thing in the hand is for. */
  private takenFor = 0;
  /** For steps whose object a relation singles out: where the like things that were not meant stood. */
  private readonly others = new Map<number, Vec3[]>();

  constructor(plan: readonly GoalStep[], calls: readonly PastCall[]) {
    this.plan = plan;
    this.done = plan.map(() => false);
    for (const call of calls) this.replay(call);
  }

  /** Index of the first step that is not done, or the plan's length. */
  step(): number {
    const next = this.plan.findIndex((_, i) => !this.isDone(i));
    return next < 0 ? this.plan.length : next;
  }

  /** A drawer need not be opened for what was already put in or taken out. */
  private isDone(index: number): boolean {
    if (this.done[index]) return true;
    const later = this.plan.slice(index + 1);
    const served = later.some((step) => step.object !== undefined);
    return (
      this.plan[index].kind === 'open' &&
      served &&
      later.every((step, i) => step.object === undefined || this.done[index + 1 + i])
    );
  }

  private replay(call: PastCall): void {
    const { answer, tool } = call;
    this.last = call;
    this.calls++;
    if (tool === 'detect') {
      this.looksInARow++;
      this.see(answer);
      return;
    }
    this.looksInARow = 0;
    if (answer.startsWith('error:')) {
      this.failures++;
      return;
    }
    const at = this.step();
    this.stale = true;
    this.holding = answer.endsWith('; holding');
    const succeeded = /^(held|placed|opened|closed|released);/.test(answer);
    if (answer.startsWith('unreachable')) this.outOfReach++;
    if (!succeeded) this.failures++;
    else if (tool !== 'pick' && tool !== 'release' && tool !== 'place_at') this.failures = 0;
    if (tool === 'pick' && succeeded) {
      this.takenFor = Math.min(at, this.plan.length - 1);
      this.takenFrom = this.seen.find((object) => object.name === call.arguments.object)?.position;
    } else if (tool === 'place' && succeeded) this.done[this.takenFor] = true;
    else if (answer.startsWith('opened') || answer.startsWith('closed')) {
      this.drawerMoved = true;
      this.noteDrawer(answer.startsWith('opened') ? 'open' : 'closed');
    }
  }

  private see(answer: string): void {
    const meant = this.seen;
    this.seen = readDetections(answer);
    this.looked = true;
    this.stale = false;
    this.drawerMoved = false;
    const again = meant.length > 0;
    this.plan.forEach((step, i) => {
      if (step.object?.relation !== undefined && !this.others.has(i)) this.noteOthers(i, step.object);
      if (step.kind === 'open' || step.kind === 'close') return;
      const seenDone = looksDone(step, this.object(i), step.target && this.thing(step.target));
      if (seenDone === false && this.done[i] && again) this.failures++;
      this.done[i] = seenDone ?? this.done[i];
    });
    const drawer = this.seen.find((object) => object.kind === 'drawer');
    if (drawer?.state) this.noteDrawer(drawer.state);
  }

  private noteDrawer(state: DrawerState): void {
    this.plan.forEach((step, i) => {
      if (step.kind === 'open') this.done[i] = state === 'open';
      if (step.kind === 'close') this.done[i] = state === 'closed';
    });
  }

  private noteOthers(index: number, description: Description): void {
    const chosen = rankBy(description, this.seen).chosen;
    if (chosen) {
      const others = this.alike(description).filter((object) => object !== chosen);
      this.others.set(
        index,
        others.map((object) => object.position),
      );
    }
  }

  private alike(description: Description): SeenObject[] {
    return this.seen.filter(
      (object) =>
        object.kind === description.kind && (description.colour === '' || object.colour === description.colour),
    );
  }

  /** The thing of a description without relation. */
  thing(description: Description): SeenObject | undefined {
    return rankBy(description, this.seen).chosen;
  }

  /**
   * The object of a step. Of like things a relation decides at first; later, when it may have been moved, it is the one
   * that is not where the others were.
   */
  object(index: number): SeenObject | undefined {
    const description = this.plan[index].object;
    if (!description) return undefined;
    const others = this.others.get(index);
    if (description.relation === undefined || !others) return this.thing(description);
    const clearance = (object: SeenObject): number =>
      Math.min(...others.map((p) => Math.hypot(object.position[0] - p[0], object.position[1] - p[1])));
    const best = this.alike(description).sort((a, b) => clearance(b) - clearance(a))[0];
    return best && clearance(best) > SAME_PLACE ? best : undefined;
  }

  /** Like things that a step does not mean. */
  otherThan(object: SeenObject): SeenObject[] {
    return this.seen.filter(({ name, kind }) => name !== object.name && !['drawer', 'cabinet', 'plate'].includes(kind));
  }
}
