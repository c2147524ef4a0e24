/**
 * Honest perception: what the cameras' pixels show, with seeded noise. It knows kinds, colours and places, misses what
 * is hidden, and never learns an object's role in the task.
 */
import type { Random } from '../../../protocol/random.ts';
import type { Simulation } from '../physics/simulation.ts';
import { CABINET, DRAWER } from '../scene/cabinet.ts';
import { COLOURS, KINDS } from '../scene/kinds.ts';
import type { Detection, Vec3 } from '../types.ts';
import { CAMERAS, Camera } from './camera.ts';
import { type Stance, stanceOf } from './geometry.ts';
import type { BodyView } from './ray-cast.ts';

/** Detection works on small pictures; boxes are told in pixels of the pictures that `look` gives. */
const DETECTION_PIXELS = 96;
export const LOOK_PIXELS = 192;
/** Standard deviation of an estimated coordinate: a part that is always there and one that grows with distance. */
const NOISE = { base: 0.004, perMetre: 0.019, hidden: 1.0, height: 0.002, yaw: 0.05, size: 0.02 };
/** No estimate is further off than this on the ground. */
const MAX_ERROR = 0.02;
/** Looks that are averaged at most, so that staring does not make a camera perfect. */
const MAX_LOOKS = 4;
/** A thing that moved by more is a new thing to estimate. */
const SAME_PLACE = 0.004;
const MIN_PIXELS = 6;
const MIN_VISIBLE = 0.12;
/** Below this visible share a thing is missed ever more often. */
const CLEARLY_VISIBLE = 0.4;

/** The errors made on one thing while it stays where it is. */
interface Track {
  at: Vec3;
  weight: number;
  error: Vec3;
  yaw: number;
  scale: number;
}

interface Thing {
  body: string;
  kind: string;
  colour: string;
  round: boolean;
  stance: Stance;
}

const camerasOfSimulation = new WeakMap<Simulation, Camera[]>();

/** The detection cameras of a simulation; they outlive an episode as the simulation does. */
function camerasOf(sim: Simulation): Camera[] {
  let cameras = camerasOfSimulation.get(sim);
  if (!cameras) {
    cameras = CAMERAS.map((name) => new Camera(sim, name, DETECTION_PIXELS, DETECTION_PIXELS));
    camerasOfSimulation.set(sim, cameras);
  }
  return cameras;
}

export class Detector {
  private readonly sim: Simulation;
  private readonly random: Random;
  private readonly tracks = new Map<string, Track>();

  constructor(sim: Simulation, random: Random) {
    this.sim = sim;
    this.random = random;
  }

  private things(): Thing[] {
    const { sim } = this;
    const things = sim.scene.objects.map(({ id, kind, colour }): Thing => {
      const { size, round } = KINDS[kind];
      const stance = stanceOf(sim.pose(id), size);
      return { body: id, kind, colour, round: round && Math.abs(stance.upright) > 0.6, stance };
    });
    if (!sim.scene.cabinet) return things;
    const flat = { yaw: 0, upright: 1 };
    const cabinet: Stance = {
      ...flat,
      centre: [...CABINET.centre, CABINET.top / 2],
      size: [2 * CABINET.halfWidth[0], 2 * CABINET.halfWidth[1], CABINET.top],
    };
    const drawer: Stance = { ...flat, centre: sim.pose('drawer').position, size: [...DRAWER.size] };
    things.push({ body: 'cabinet', kind: 'cabinet', colour: '', round: false, stance: cabinet });
    things.push({ body: 'drawer', kind: 'drawer', colour: '', round: false, stance: drawer });
    return things;
  }

  /** Looks once with every camera; what is seen well enough, named by kind and counted from left to right. */
  detect(): Detection[] {
    const cameras = camerasOf(this.sim);
    const views = cameras.map((camera) => {
      camera.render();
      return camera.bodyViews();
    });
    const seen: Detection[] = [];
    for (const thing of this.things()) {
      const detection = this.see(thing, cameras, views);
      if (detection) seen.push(detection);
    }
    seen.sort((a, b) => b.position[1] - a.position[1]);
    const counts = new Map<string, number>();
    for (const detection of seen) {
      const count = (counts.get(detection.kind) ?? 0) + 1;
      counts.set(detection.kind, count);
      detection.name = `${detection.kind}_${count}`;
    }
    return seen;
  }

  /** The camera that tells a thing's place best reports it; a hidden thing is not reported. */
  private see(thing: Thing, cameras: Camera[], views: BodyView[][]): Detection | undefined {
    const body = this.sim.bodyId(thing.body);
    const { centre, size, yaw } = thing.stance;
    let best: { camera: Camera; view: BodyView; visible: number; sigma: number } | undefined;
    cameras.forEach((camera, i) => {
      const view = views[i][body];
      if (view.visible < MIN_PIXELS) return;
      const visible = view.visible / view.outline;
      const distance = Math.hypot(...centre.map((c, axis) => c - camera.position[axis]));
      const sigma = (NOISE.base + NOISE.perMetre * distance) * (1 + NOISE.hidden * (1 - visible));
      if (visible >= MIN_VISIBLE && (!best || sigma < best.sigma)) best = { camera, view, visible, sigma };
    });
    if (!best) return undefined;
    if (this.random.next() < Math.max(0, CLEARLY_VISIBLE - best.visible) * 1.5) return undefined;
    const track = this.estimate(thing, best.sigma);
    const position = centre.map((c, i) => c + track.error[i]) as Vec3;
    const detection: Detection = {
      name: '',
      kind: thing.kind,
      colour: thing.colour,
      position,
      size: size.map((s) => s * track.scale) as Vec3,
      yaw: thing.round ? 0 : yaw + track.yaw,
      confidence: Math.min(0.99, 0.3 + 0.69 * best.visible),
      camera: best.camera.name,
      box: best.view.box.map((edge) => Math.round(edge * LOOK_PIXELS)) as Detection['box'],
    };
    if (thing.kind === 'drawer') detection.open = position[1] - CABINET.centre[1] > DRAWER.travel / 2;
    return detection;
  }

  /** One more look: its error joins the weighted mean of those made since the thing moved last. */
  private estimate(thing: Thing, sigma: number): Track {
    const { random } = this;
    const { centre } = thing.stance;
    let track = this.tracks.get(thing.body);
    const moved = track && Math.hypot(...centre.map((c, i) => c - track!.at[i])) > SAME_PLACE;
    if (!track || moved) {
      track = { at: centre, weight: 0, error: [0, 0, 0], yaw: 0, scale: 1 + NOISE.size * random.normal() };
      this.tracks.set(thing.body, track);
    }
    const weight = 1 / (sigma * sigma);
    const share = weight / (track.weight + weight);
    const errors = [sigma * random.normal(), sigma * random.normal(), NOISE.height * random.normal()];
    for (let i = 0; i < 3; i++) track.error[i] += share * (errors[i] - track.error[i]);
    track.yaw += share * (NOISE.yaw * random.normal() - track.yaw);
    track.weight = Math.min(track.weight + weight, (MAX_LOOKS - 1) * weight);
    const off = Math.hypot(track.error[0], track.error[1]);
    if (off > MAX_ERROR) {
      track.error[0] *= MAX_ERROR / off;
      track.error[1] *= MAX_ERROR / off;
    }
    return track;
  }
}

const EVERY_KIND = new Set([...Object.keys(KINDS), 'drawer', 'cabinet']);

/**
 * Whether a detection fits the words of a query: every kind word or name must be its own, every colour word too. A
 * query that names no kind, colour or detection fits nothing.
 */
export function fitsQuery(detection: Detection, query: string): boolean {
  const words = query.toLowerCase().match(/[a-z]+(?:_\d+)?/g) ?? [];
  let named = false;
  let kinds: boolean | undefined;
  let colours: boolean | undefined;
  for (const word of words) {
    const kind = EVERY_KIND.has(word) ? word : word.replace(/(es|s)$/, '');
    if (word === detection.name) named = true;
    if (EVERY_KIND.has(kind) || /_\d+$/.test(word)) kinds = kinds || kind === detection.kind;
    if (word in COLOURS) colours = colours || word === detection.colour;
  }
  if (named) return true;
  return (kinds ?? colours ?? false) && (colours ?? true);
}
