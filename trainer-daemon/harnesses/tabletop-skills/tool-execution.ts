/** Carries out one tool call in the world. Whatever a planner writes, the answer is words it can act on. */
import type { Detection, PlaceTarget, SkillResult, Tabletop, Vec3 } from '../../tabletop/types.ts';
import { describeDetections, describeSkill, named } from './observations.ts';
import { CAMERAS, GRASPS, PLACES, STATUSES, TOOLS } from './tools.ts';

export interface ToolAnswer {
  content: string;
  /** A picture to show to the planner, as a data URL. */
  image?: string;
  /** The planner's own word on finishing. */
  finished?: 'done' | 'failed';
}

/** A mistake in a call, told to the planner. */
class Refused extends Error {}

const FARTHEST_CM = 200;

export class ToolExecution {
  private readonly world: Tabletop;
  /** Objects of the last detect, by name. */
  private seen = new Map<string, Detection>();
  /** Names of the last detect whose things were moved since, by ourselves. */
  private readonly moved = new Set<string>();
  /** Where the fingers hold something. */
  private hand: Vec3 | undefined;

  constructor(world: Tabletop) {
    this.world = world;
  }

  /** @throws Error only when the world itself fails. */
  run(name: string, argumentText: string): ToolAnswer {
    try {
      return this.dispatch(name, parseArguments(argumentText));
    } catch (error) {
      if (error instanceof Refused) return { content: `error: ${error.message}` };
      throw error;
    }
  }

  private dispatch(name: string, given: Record<string, unknown>): ToolAnswer {
    const { world } = this;
    switch (name) {
      case 'detect':
        return { content: this.detect() };
      case 'look': {
        const image = world.look(choice(given, 'camera', CAMERAS));
        return {
          content: `picture of the ${image.camera} camera`,
          image: `data:image/png;base64,${Buffer.from(image.png).toString('base64')}`,
        };
      }
      case 'pick': {
        const object = this.object(given, 'object');
        const result = world.pick(object, choice(given, 'grasp', GRASPS));
        if (result.ok) this.moved.add(object.name);
        return this.felt(result);
      }
      case 'place':
        return this.felt(world.place(this.target(given)));
      case 'place_at':
        return this.felt(world.place({ at: [metres(given, 'x'), metres(given, 'y')] }));
      case 'move_to':
        return this.felt(world.moveTo([metres(given, 'x'), metres(given, 'y'), metres(given, 'z')]));
      case 'open_drawer':
        return this.felt(world.openDrawer(this.drawer(given)));
      case 'close_drawer':
        return this.felt(world.closeDrawer(this.drawer(given)));
      case 'release':
        return this.felt(world.release());
      case 'finish':
        return { content: 'finished', finished: choice(given, 'status', STATUSES) };
      default:
        throw new Refused(
          `no tool "${name.slice(0, 40)}"; the tools are ${TOOLS.map((tool) => tool.function.name).join(', ')}`,
        );
    }
  }

  private detect(): string {
    const detections = named(this.world.detect().detections);
    this.seen = new Map(detections.map((detection) => [detection.name, detection]));
    this.moved.clear();
    return describeDetections(detections, this.world.holding() ? this.hand : undefined);
  }

  private felt(result: SkillResult): ToolAnswer {
    this.hand = result.holding ? result.tcp : undefined;
    if (result.code === 'opened' || result.code === 'closed') {
      for (const { kind, name } of this.seen.values()) if (kind === 'drawer') this.moved.add(name);
    }
    return { content: describeSkill(result) };
  }

  private object(given: Record<string, unknown>, key: string): Detection {
    const name = given[key];
    if (typeof name !== 'string') throw new Refused(`${key} is missing`);
    const detection = this.seen.get(name);
    if (!detection)
      throw new Refused(this.seen.size === 0 ? 'detect first' : `no ${name.slice(0, 40)} in the last detect`);
    if (this.moved.has(name)) throw new Refused(`${name} was moved; detect again`);
    return detection;
  }

  private drawer(given: Record<string, unknown>): Detection {
    const drawer = this.object(given, 'drawer');
    if (drawer.kind !== 'drawer') throw new Refused(`${drawer.name} is no drawer`);
    return drawer;
  }

  private target(given: Record<string, unknown>): PlaceTarget {
    const where = choice(given, 'where', PLACES);
    const target = this.object(given, 'target');
    if (where === 'on') return { on: target };
    if (where === 'in') return { inside: target };
    return { beside: target, side: where };
  }
}

function parseArguments(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text);
  } catch {
    throw new Refused('the arguments are not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused('the arguments are no object');
  return value as Record<string, unknown>;
}

function choice<T extends string>(given: Record<string, unknown>, key: string, options: readonly T[]): T {
  const value = given[key];
  if (typeof value === 'string' && (options as readonly string[]).includes(value)) return value as T;
  throw new Refused(`${key} must be ${options.join(' or ')}`);
}

function metres(given: Record<string, unknown>, key: string): number {
  const value = given[key];
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > FARTHEST_CM)
    throw new Refused(`${key} must be a number of centimetres`);
  return value / 100;
}
