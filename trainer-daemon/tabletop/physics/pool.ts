/** Compiled scenes for reuse: compiling takes milliseconds, and each holds engine memory until deleted. */
import type { SceneSpec } from '../suites/spec.ts';
import type { Engine } from './engine.ts';
import { Simulation } from './simulation.ts';

/** Simulations kept for later, of all scenes together. */
const KEPT = 8;

const idle: Simulation[] = [];

/** A simulation of the scene, idle or new; `reset` makes both alike, bit for bit. */
export function borrowSimulation(engine: Engine, scene: SceneSpec): Simulation {
  const index = idle.findIndex((s) => s.scene.name === scene.name);
  return index >= 0 ? idle.splice(index, 1)[0] : new Simulation(engine, scene);
}

/** Hands a simulation back; the one idle for longest is deleted where too many are kept. */
export function returnSimulation(sim: Simulation): void {
  sim.onFrame = undefined;
  idle.push(sim);
  if (idle.length > KEPT) idle.shift()!.dispose();
}
