/** Carries out one tool call in the world. Whatever a planner writes, the answer is words it can act on. */
import type { Detection, PlaceTarget, Tabletop } from '../../tabletop/types.ts';
import type { ChatMessage } from './model-client.ts';
import { describeDetections, describeSkill } from './observations.ts';
import { PLACES, TOOLS } from './tools.ts';

export interface ToolAnswer {
  content: ChatMessage['content'];
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

  constructor(world: Tabletop) {
    this.world = world;
  }

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
      case 'detect': {
        const { detections } = world.detect(
          typeof given.query === 'string' && given.query !== '' ? given.query : undefined,
        );
        this.seen = new Map(detections.map((detection) => [detection.name, detection]));
        return { content: describeDetections(detections) };
      }
      case 'look': {
        const image = world.look(choice(given, 'camera', ['agent', 'side', 'wrist'] as const));
        const url = `data:image/png;base64,${Buffer.from(image.png).toString('base64')}`;
        return {
          content: [
            { type: 'text', text: `${image.camera} camera` },
            { type: 'image_url', image_url: { url } },
          ],
        };
      }
      case 'pick':
        return {
          content: describeSkill(
            world.pick(this.object(given, 'object'), choice(given, 'grasp', ['top', 'rim'] as const)),
          ),
        };
      case 'place':
        return { content: describeSkill(world.place(this.target(given))) };
      case 'place_at':
        return { content: describeSkill(world.place({ at: [metres(given, 'x'), metres(given, 'y')] })) };
      case 'move_to':
        return { content: describeSkill(world.moveTo([metres(given, 'x'), metres(given, 'y'), metres(given, 'z')])) };
      case 'open_drawer':
        return { content: describeSkill(world.openDrawer(this.drawer(given))) };
      case 'close_drawer':
        return { content: describeSkill(world.closeDrawer(this.drawer(given))) };
      case 'release':
        return { content: describeSkill(world.release()) };
      case 'finish':
        return { content: 'finished', finished: choice(given, 'status', ['done', 'failed'] as const) };
      default:
        throw new Refused(
          `no tool "${name.slice(0, 40)}"; the tools are ${TOOLS.map((tool) => tool.function.name).join(', ')}`,
        );
    }
  }

  private object(given: Record<string, unknown>, key: string): Detection {
    const name = given[key];
    if (typeof name !== 'string') throw new Refused(`${key} is missing`);
    const detection = this.seen.get(name);
    if (!detection)
      throw new Refused(this.seen.size === 0 ? 'detect first' : `no ${name.slice(0, 40)} in the last detect`);
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
    if (where === 'inside') return { inside: target };
    return { beside: target, side: where };
  }
}

function parseArguments(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
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
