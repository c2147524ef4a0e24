/** A short real training with what the run page makes of it: for tests of the page. */
import { expect, vi } from 'vitest';
import { RunPageSource } from '../../extension/run-page/source.ts';
import type { WrittenConfig } from '../../protocol/config.ts';
import type { Bench } from './daemon-bench.ts';
import { quickConfig } from './quick-run.ts';

/** Two rounds, each validated, and an evaluation of three planners. */
export const pageConfig: WrittenConfig = {
  ...quickConfig,
  name: 'page',
  rl: { ...quickConfig.rl, rounds: 2, groupsPerRound: 3, attemptsPerGroup: 3, validateEvery: 1 },
  evaluation: { ...quickConfig.evaluation, states: [1, 2, 3] },
};

/** Starts the training through a daemon and follows it from its first entry. */
export async function followedTraining({ writeConfig, client, said }: Bench) {
  const daemon = client();
  await daemon.start();
  const { run, directory } = await daemon.request('runs.start', {
    config: writeConfig('page.training.yaml', pageConfig),
    directory: 'runs/page',
  });
  const open = () =>
    RunPageSource.open(daemon, run, {
      log: (text) => said.push(text),
      connectionWords: ({ state }) => (state === 'ready' ? null : `the daemon is ${state}`),
    });
  return { daemon, run, directory, source: await open(), open };
}

/** Waits until the run is finished and its evaluation is read. */
export async function finished({ model }: RunPageSource): Promise<void> {
  const now = () => model.data(Date.now());
  const planners = () => now().evaluations?.planners.length;
  await vi.waitFor(() => expect([now().head.state, planners()]).toEqual(['finished', 3]), 240_000);
}
