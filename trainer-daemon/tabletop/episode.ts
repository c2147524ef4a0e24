/** One running episode: the scene of a start, perception with that start's noise, and skills. */
import { Random } from '../../protocol/random.ts';
import { Camera, type CameraName } from './perception/camera.ts';
import { Detector, fitsQuery, LOOK_PIXELS } from './perception/detector.ts';
import { loadEngine } from './physics/engine.ts';
import { borrowSimulation, returnSimulation } from './physics/pool.ts';
import type { Simulation } from './physics/simulation.ts';
import { layout } from './scene/layout.ts';
import { closeDrawer, openDrawer } from './skills/drawer.ts';
import { SceneMemory } from './skills/memory.ts';
import { feelsSomething, move, TRAVEL_HEIGHT, waitForRest } from './skills/motion.ts';
import { isReachable, letGo, pick, place, type SkillContext } from './skills/pick-and-place.ts';
import { type BoundGoal, bindGoals, isSolved } from './success.ts';
import { checkInit, resolveTask } from './suites/registry.ts';
import { TrajectoryRecorder } from './trajectory.ts';
import type {
  CameraImage,
  Detection,
  Detections,
  EpisodeStart,
  Grasp,
  PlaceTarget,
  SkillCode,
  SkillResult,
  Tabletop,
  TaskSummary,
  Trajectory,
  Vec3,
} from './types.ts';

const DONE: readonly SkillCode[] = ['held', 'placed', 'moved', 'released', 'opened', 'closed'];

/** @throws Error unless every number of a detection that skills rely on is finite. */
function checkDetection(detection: Detection, skill: string): void {
  const numbers = [...(detection?.position ?? [Number.NaN]), ...(detection?.size ?? [Number.NaN]), detection?.yaw];
  if (numbers.length !== 7 || !numbers.every((n) => Number.isFinite(n))) {
    throw new Error(`${skill}: the target is not a detection with a finite position, size and yaw`);
  }
}

export class TabletopEpisode implements Tabletop {
  readonly task: TaskSummary;
  /** The simulation itself, for tests and measurements; no harness may look into it. */
  readonly simulation: Simulation;
  readonly goals: BoundGoal[];
  private readonly detector: Detector;
  private readonly recorder: TrajectoryRecorder;
  private readonly context: SkillContext;
  private disposed = false;

  private constructor(
    sim: Simulation,
    task: TaskSummary,
    goals: BoundGoal[],
    { noiseSeed, hand }: Pick<EpisodeStart, 'noiseSeed' | 'hand'>,
  ) {
    this.simulation = sim;
    this.task = task;
    this.goals = goals;
    this.detector = new Detector(sim, new Random('tabletop-perception', noiseSeed));
    this.context = { sim, memory: new SceneMemory(), load: undefined };
    if (hand === 'unsteady') this.context.unsteady = new Random('tabletop-unsteady-hand', noiseSeed);
    this.recorder = new TrajectoryRecorder(sim);
    sim.onFrame = () => this.recorder.frame();
  }

  /** See `startEpisode` of the folder's index. */
  static async start({ suite, task, init, ...world }: EpisodeStart): Promise<TabletopEpisode> {
    checkInit(init);
    const { base, perturbation, spec, goal, summary } = resolveTask(suite, task);
    const start = layout(base, task, spec, perturbation, init);
    const goals = bindGoals(spec.scene, start, goal.goal);
    const sim = borrowSimulation(await loadEngine(), spec.scene);
    try {
      sim.reset(start);
      return new TabletopEpisode(sim, summary, goals, world);
    } catch (error) {
      sim.dispose();
      throw error;
    }
  }

  private get sim(): Simulation {
    if (this.disposed) throw new Error('the episode was disposed of: start a new one');
    return this.simulation;
  }

  get time(): number {
    return this.sim.time;
  }

  holding(): boolean {
    return this.context.load !== undefined && feelsSomething(this.sim);
  }

  detect(query?: string): Detections {
    const { sim } = this;
    const all = this.detector.detect();
    this.context.memory.remember(all);
    if (this.context.load) this.context.load.seen = true;
    const wanted = query === undefined || query.trim() === '' ? all : all.filter((d) => fitsQuery(d, query));
    this.recorder.span('detect', sim.time, sim.gripped() ?? null, structuredClone(wanted));
    return { time: sim.time, detections: wanted };
  }

  look(camera: CameraName = 'agent'): CameraImage {
    const { sim } = this;
    if (!['agent', 'side', 'wrist'].includes(camera)) {
      throw new Error(`there is no camera "${camera}": the cameras are agent, side and wrist`);
    }
    const picture = new Camera(sim, camera, LOOK_PIXELS, LOOK_PIXELS);
    picture.render();
    this.recorder.span('look', sim.time, sim.gripped() ?? null);
    return { camera, width: LOOK_PIXELS, height: LOOK_PIXELS, png: picture.png() };
  }

  pick(target: Detection, grasp: Grasp): SkillResult {
    checkDetection(target, 'pick');
    if (grasp !== 'top' && grasp !== 'rim')
      throw new Error(`pick: the grasp is "top" or "rim", not "${String(grasp)}"`);
    return this.skill('pick', (context) => pick(context, target, grasp));
  }

  place(target: PlaceTarget): SkillResult {
    if ('at' in target) {
      if (!target.at.every((n) => Number.isFinite(n))) throw new Error('place: `at` needs two finite numbers');
    } else {
      checkDetection('on' in target ? target.on : 'inside' in target ? target.inside : target.beside, 'place');
      if ('beside' in target && !['left', 'right', 'front', 'behind'].includes(target.side)) {
        throw new Error(`place: the side is left, right, front or behind, not "${String(target.side)}"`);
      }
    }
    return this.skill('place', (context) => place(context, target));
  }

  moveTo(position: Vec3): SkillResult {
    return this.skill('moveTo', ({ sim }) => {
      if (position.length !== 3 || !isReachable(position)) return 'unreachable';
      const [x, y, z] = position;
      const here = sim.tcp();
      const lift = Math.max(here[2], z, TRAVEL_HEIGHT - 0.02);
      if (Math.hypot(x - here[0], y - here[1]) > 0.05) {
        move(sim, [here[0], here[1], lift], undefined, { tolerance: 0.03 });
        move(sim, [x, y, lift], undefined, { tolerance: 0.02 });
      }
      const end = move(sim, position, undefined, { tolerance: 0.008 });
      return end === 'reached' ? 'moved' : end === 'stalled' ? 'blocked' : 'timeout';
    });
  }

  openDrawer(drawer: Detection): SkillResult {
    checkDetection(drawer, 'openDrawer');
    return this.skill('openDrawer', (context) => openDrawer(context, drawer));
  }

  closeDrawer(drawer: Detection): SkillResult {
    checkDetection(drawer, 'closeDrawer');
    return this.skill('closeDrawer', (context) => closeDrawer(context, drawer));
  }

  release(): SkillResult {
    return this.skill('release', (context) => {
      const held = context.load !== undefined;
      letGo(context);
      return held ? 'released' : 'not-holding';
    });
  }

  /** Runs a skill, checks that the physics stayed sound, and tells what the sensors tell. */
  private skill(name: string, run: (context: SkillContext) => SkillCode): SkillResult {
    const { sim } = this;
    const start = sim.time;
    let code = run(this.context);
    waitForRest(sim);
    // A load that left the fingers since must not make the hand count as full.
    if (this.context.load && !feelsSomething(sim)) {
      this.context.load = undefined;
      if (code === 'held') code = 'slipped';
    }
    sim.checkSoundness();
    this.recorder.span(name, start, sim.gripped() ?? null);
    return {
      ok: DONE.includes(code),
      code,
      gripperOpening: sim.fingerGap(),
      holding: this.holding(),
      tcp: sim.tcp(),
      seconds: sim.time - start,
    };
  }

  success(): boolean {
    return isSolved(this.sim, this.goals);
  }

  trajectory(): Trajectory {
    return this.recorder.encode();
  }

  /** Gives the simulation back; the trajectory can still be read. */
  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.context.load = undefined;
    returnSimulation(this.simulation);
  }
}
