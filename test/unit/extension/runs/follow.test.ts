import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { FollowNewest as Follower } from '../../../../extension/runs/follow.ts';

vi.mock('vscode', () => ({ commands: { executeCommand: async () => undefined }, l10n: { t: (text: string) => text } }));

const { FollowNewest } = await import('../../../../extension/runs/follow.ts');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A tree whose editor knows the newest episode only once it has asked anew so many times. */
function following(refreshesNeeded: number) {
  const episode = { kind: 'episode' };
  const active = { summary: { run: 'runs/quick' }, state: { sections: [{ section: 'teacher' }] } };
  const folder = { runs: { active } };
  const refreshed: string[] = [];
  const revealed: unknown[] = [];
  const debug: string[] = [];
  const tree = {
    filter: {},
    newestIn: async () => episode,
    refreshRun: (_: unknown, run: string) => refreshed.push(run),
  };
  const view = {
    visible: true,
    reveal: async (node: unknown) => {
      if (refreshed.length < refreshesNeeded) throw new Error('Cannot resolve tree item');
      revealed.push(node);
    },
  };
  const folders = { all: [folder], onNews: () => ({ dispose: () => {} }) };
  const log = { debug: (text: string) => debug.push(text) };
  const follower: Follower = new FollowNewest(folders as never, tree as never, view as never, log as never);
  return { follower, episode, refreshed, revealed, debug };
}

it('has the editor ask anew where it does not know the newest episode yet', async () => {
  const { follower, episode, refreshed, revealed, debug } = following(2);
  follower.follow(true);
  await vi.advanceTimersByTimeAsync(1500);
  expect(refreshed).toEqual(['runs/quick', 'runs/quick']);
  expect(revealed).toEqual([episode]);
  expect(debug).toEqual([]);
  follower.dispose();
});

it('gives up on a node that stays unknown, and says so in the log', async () => {
  const { follower, refreshed, revealed, debug } = following(100);
  follower.follow(true);
  await vi.advanceTimersByTimeAsync(1900);
  expect(refreshed).toHaveLength(3);
  expect(revealed).toEqual([]);
  expect(debug).toEqual(['the newest episode is not shown: Cannot resolve tree item']);
  follower.dispose();
});
