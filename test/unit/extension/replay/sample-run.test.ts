/** The episode that is shown of the run that comes with the extension. */
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { sampleEpisode } from '../../../../extension/replay/sample-run.ts';
import { ReplaySession } from '../../../../extension/replay/session.ts';
import { recordedGroup } from '../../recordings/replay/hand-made.ts';

const SAMPLE = resolve(import.meta.dirname, '../../../../examples/sample-run');

it('of the sample run is a success that was trained on, beside failures', async () => {
  const target = await sampleEpisode(SAMPLE);
  const session = await ReplaySession.open(target, () => {});
  const { outcome, group, length } = session.episode;
  expect([outcome.record?.reward, target.section]).toEqual([1, 'rounds/0002']);
  expect(length).toBeGreaterThan(2);
  expect(group.some(({ reward }) => reward === 0)).toBe(true);
  expect(await session.current()).toMatchObject({ sample: { status: 'selected' } });
  await session.close();
});

it('is told to be none where no group ended both ways', async () => {
  await expect(sampleEpisode(resolve(SAMPLE, 'none'))).rejects.toThrow('none');
  const { episode } = await sampleEpisode(await recordedGroup());
  expect(episode).toBe('e0');
});
