/**
 * A plain expert for tests and measurements: brings the goal's steps about from perceived positions (or from the true
 * ones), with up to `retries` further attempts a step after it looked again.
 */
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';
import { goalOf, singleOut } from '../../../../trainer-daemon/tabletop/index.ts';
import { stanceOf } from '../../../../trainer-daemon/tabletop/perception/geometry.ts';
import { KINDS } from '../../../../trainer-daemon/tabletop/scene/kinds.ts';
import type {
  Description,
  Detection,
  EpisodeStart,
  GoalStep,
  PlaceTarget,
  Vec3,
} from '../../../../trainer-daemon/tabletop/types.ts';

export interface Outcome {
  success: boolean;
  codes: string[];
  cpuMs: number;
  simSeconds: number;
}

const apart = (a: Vec3, b: Vec3): number => Math.hypot(a[0] - b[0], a[1] - b[1]);

/** Detections with the noise taken out. */
export function truth(episode: TabletopEpisode): Detection[] {
  const objects = episode.simulation.scene.objects;
  return episode.detect().detections.map((d) => {
    const like = objects
      .filter((o) => o.kind === d.kind && o.colour === d.colour)
      .map((o) => stanceOf(episode.simulation.pose(o.id), KINDS[o.kind].size))
      .sort((a, b) => apart(a.centre, d.position) - apart(b.centre, d.position))[0];
    if (d.kind === 'drawer') return { ...d, position: episode.simulation.pose('drawer').position };
    if (!like) return d;
    return { ...d, position: like.centre, size: like.size, yaw: d.yaw === 0 ? 0 : like.yaw };
  });
}

class Expert {
  private readonly episode: TabletopEpisode;
  private readonly exact: boolean;
  private readonly retries: number;
  private readonly known = new Map<string, Vec3>();
  readonly codes: string[] = [];

  constructor(episode: TabletopEpisode, exact: boolean, retries: number) {
    this.episode = episode;
    this.exact = exact;
    this.retries = retries;
  }

  private see(): Detection[] {
    return this.exact ? truth(this.episode) : this.episode.detect().detections;
  }

  /** First by what the instruction says; later the like thing nearest to where it was last. */
  private find(description: Description, seen: Detection[]): Detection | undefined {
    const key = JSON.stringify(description);
    const last = this.known.get(key);
    const found = last
      ? seen
          .filter((d) => d.kind === description.kind && (description.colour === '' || d.colour === description.colour))
          .sort((a, b) => apart(a.position, last) - apart(b.position, last))[0]
      : singleOut(description, seen);
    if (found) this.known.set(key, found.position);
    return found;
  }

  private looksDone(step: GoalStep, seen: Detection[]): boolean {
    const target = this.find(step.target!, seen);
    if (step.kind === 'open' || step.kind === 'close') return target?.open === (step.kind === 'open');
    const object = this.find(step.object!, seen);
    if (!object || !target) return false;
    const gap = apart(object.position, target.position);
    const bottom = object.position[2] - object.size[2] / 2;
    if (step.kind === 'beside') return gap < 0.25 && bottom < 0.02;
    const floor = target.position[2] - target.size[2] / 2;
    if (step.kind === 'inside' && target.kind === 'bowl') return gap < 0.042 && bottom < floor + 0.022;
    const reach = step.kind === 'inside' ? 0.11 : Math.max(target.size[0], target.size[1]) / 2;
    return gap < reach && bottom > floor + 0.003;
  }

  private attempt(step: GoalStep): void {
    const seen = this.see();
    const target = this.find(step.target!, seen);
    if (!target) return;
    if (step.kind === 'open') this.codes.push(this.episode.openDrawer(target).code);
    else if (step.kind === 'close') this.codes.push(this.episode.closeDrawer(target).code);
    else {
      const object = this.find(step.object!, seen);
      if (!object) return;
      const held = this.episode.pick(object, object.kind === 'bowl' ? 'rim' : 'top');
      this.codes.push(held.code);
      if (!held.ok) return;
      const destination: PlaceTarget =
        step.kind === 'on'
          ? { on: target }
          : step.kind === 'inside'
            ? { inside: target }
            : { beside: target, side: step.side! };
      const placed = this.episode.place(destination);
      this.codes.push(placed.code);
      if (placed.holding) this.episode.release();
      this.known.set(JSON.stringify(step.object), placed.tcp);
    }
  }

  run(steps: GoalStep[]): void {
    for (const step of steps) {
      for (let left = this.retries; left >= 0; left--) {
        this.attempt(step);
        if (this.retries === 0 || this.looksDone(step, this.see())) break;
      }
    }
  }
}

/** Plays one episode to its end. */
export async function play(start: EpisodeStart, exact: boolean, retries: number): Promise<Outcome> {
  const cpu = process.cpuUsage();
  const episode = await TabletopEpisode.start(start);
  try {
    const expert = new Expert(episode, exact, retries);
    expert.run(goalOf(start.suite, start.task, start.init));
    const success = episode.success();
    episode.trajectory();
    const used = process.cpuUsage(cpu);
    return { success, codes: expert.codes, cpuMs: (used.user + used.system) / 1e3, simSeconds: episode.time };
  } finally {
    episode.dispose();
  }
}
