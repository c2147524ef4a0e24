/** Opening the drawer by its handle and pushing it shut. */
import { DRAWER } from '../scene/cabinet.ts';
import { FINGER_OPEN } from '../scene/robot.ts';
import type { Detection, SkillCode, Vec3 } from '../types.ts';
import { closeFingers, move, openFingers, TRAVEL_HEIGHT } from './motion.ts';
import { isReachable, type SkillContext } from './pick-and-place.ts';

/** Between the handle and the drawer's front there is no room for wider fingers. */
const OPENING = 0.022;
/** A narrower gap has no handle in it (its bar is 16 mm thick). */
const HANDLE_GAP = 0.008;
const BLOCKED = 0.015;
const PULL = 0.14;
const PUSH = 0.23;
const DRAW_SPEED = 0.4;

function handleOf(drawer: Detection): Vec3 {
  return drawer.position.map((p, i) => p + DRAWER.handle[i]) as Vec3;
}

/** Brings the hand above a point and down to it; false where something is in the way. */
function descend({ sim }: SkillContext, [x, y, z]: Vec3): boolean {
  const here = sim.tcp();
  move(sim, [here[0], here[1], Math.max(here[2], TRAVEL_HEIGHT)], undefined, { tolerance: 0.03 });
  move(sim, [x, y, TRAVEL_HEIGHT], 0, { tolerance: 0.012 });
  move(sim, [x, y, z], 0, { tolerance: 0.005, timeout: 1.5 });
  return sim.tcp()[2] - z < BLOCKED;
}

function ascend({ sim }: SkillContext): void {
  const [x, y] = sim.tcp();
  move(sim, [x, y, TRAVEL_HEIGHT], 0, { tolerance: 0.02 });
}

/** Takes the handle and pulls until the drawer stops. */
export function openDrawer(context: SkillContext, drawer: Detection): SkillCode {
  const { sim } = context;
  if (context.load) return 'already-holding';
  const handle = handleOf(drawer);
  if (!isReachable(handle)) return 'unreachable';
  openFingers(sim, OPENING, 0);
  if (!descend(context, handle)) {
    ascend(context);
    openFingers(sim, FINGER_OPEN, 0);
    return 'blocked';
  }
  closeFingers(sim);
  let code: SkillCode = 'opened';
  if (sim.fingerGap() < HANDLE_GAP) {
    code = 'handle-missed';
  } else {
    const [x, y, z] = sim.tcp();
    move(sim, [x, y + PULL, z], 0, { tolerance: 0.01, timeout: 2, speed: DRAW_SPEED });
    if (sim.fingerGap() < HANDLE_GAP) code = 'slipped';
  }
  openFingers(sim, OPENING, 0.25);
  ascend(context);
  openFingers(sim, FINGER_OPEN, 0);
  return code;
}

/** Pushes the drawer shut with closed fingers, until it stops. */
export function closeDrawer(context: SkillContext, drawer: Detection): SkillCode {
  const { sim } = context;
  if (context.load) return 'already-holding';
  const [x, y, z] = handleOf(drawer);
  const before: Vec3 = [x, y + 0.05, z];
  if (!isReachable(before)) return 'unreachable';
  closeFingers(sim);
  if (!descend(context, before)) {
    ascend(context);
    openFingers(sim, FINGER_OPEN, 0);
    return 'blocked';
  }
  const end = move(sim, [x, y + 0.05 - PUSH, z], 0, { tolerance: 0.004, timeout: 2, speed: DRAW_SPEED });
  const [atX, atY, atZ] = sim.tcp();
  move(sim, [atX, atY + 0.03, atZ], 0, { tolerance: 0.01, timeout: 0.5 });
  ascend(context);
  openFingers(sim, FINGER_OPEN, 0);
  return end === 'stalled' ? 'closed' : 'handle-missed';
}
