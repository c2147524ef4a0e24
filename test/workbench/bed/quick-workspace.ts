/** A workspace with a training of some seconds and its harness, whose episodes wait while a test looks at the window. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { quickConfig } from '../../integration/quick-run.ts';

const FIXTURES = resolve(import.meta.dirname, '../../fixtures');
/** Longer than any test holds an episode. */
const SECONDS = 900;

/** A config whose harness is that of `addQuickHarness`. */
export function quickTraining(name: string, episodesPerTask = 2): string {
  const { harness } = quickConfig;
  const config = {
    ...quickConfig,
    name,
    harness: {
      ...harness,
      adapter: './harness/quick.adapter.mjs',
      concurrency: 1,
      limits: { ...harness.limits, seconds: SECONDS, idleSeconds: SECONDS },
    },
    teacher: { episodesPerTask },
  };
  return JSON.stringify(config, null, 2);
}

/** Puts the harness and its teacher into a workspace. */
export function addQuickHarness(workspace: string): void {
  cpSync(join(FIXTURES, 'quick-harness'), join(workspace, 'harness'), { recursive: true });
  cpSync(join(FIXTURES, 'harnesses'), join(workspace, 'harnesses'), { recursive: true });
}

/** What adds the harness to a workspace, held after so many episodes. */
export function heldHarness(after: number): (workspace: string) => void {
  return (workspace) => {
    addQuickHarness(workspace);
    holdEpisodes(workspace, after);
  };
}

/** Lets so many more episodes begin; the next waits. */
export function holdEpisodes(workspace: string, after: number): void {
  writeFileSync(join(workspace, 'held.txt'), String(after));
}

/** Lets every episode go on. */
export function releaseEpisodes(workspace: string): void {
  rmSync(join(workspace, 'held.txt'), { force: true });
}
