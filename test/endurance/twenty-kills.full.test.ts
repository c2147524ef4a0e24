/** `train`, killed twenty times: the same run in the end. Part of `npm run test:full`. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli } from '../integration/cli-process.ts';
import { drawMoments, trainWithKills } from './kills.ts';
import { differences, normalForm } from './normal-form.ts';
import { parleyFolder } from './parley-run.ts';

const SEED = Number(process.env.ENDURANCE_SEED ?? 1);

it('a run killed at twenty moments of all stages ends as the undisturbed one', async () => {
  const { folder, config } = parleyFolder();
  const undisturbed = join(folder, 'undisturbed');
  expect(await cli(folder, ['train', config, '--run', undisturbed, '--json'])).toMatchObject({ code: 0 });
  const moments = drawMoments(20, SEED);
  const killed = join(folder, 'killed');
  const kills = await trainWithKills(folder, config, killed, moments, SEED);
  console.log(kills.map(({ moment, stage, delay }) => `${stage ?? 'between'}: ${moment} + ${delay} ms`).join('\n'));
  expect(kills).toHaveLength(20);
  for (const stage of ['teacher', 'sft', 'rl', 'evaluate'])
    expect([stage, kills.filter((kill) => kill.stage === stage).length > 0]).toEqual([stage, true]);
  expect(differences(normalForm(undisturbed), normalForm(killed))).toEqual([]);
}, 1_800_000);
