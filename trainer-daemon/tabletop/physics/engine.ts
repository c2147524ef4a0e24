/** The physics engine (MuJoCo's WASM build), loaded once a process and only when an episode starts. */
import type { MainModule } from '@mujoco/mujoco';

export type Engine = MainModule;

let loading: Promise<Engine> | undefined;

/** @throws Error when the engine's package or its wasm file is missing or cannot be compiled. */
export function loadEngine(): Promise<Engine> {
  loading ??= import('@mujoco/mujoco')
    .then((module) => module.default())
    .catch((cause: unknown) => {
      loading = undefined;
      throw new Error(`the physics engine @mujoco/mujoco could not be loaded: ${String(cause)}`, { cause });
    });
  return loading;
}
