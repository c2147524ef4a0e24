/** `train`, killed twenty times: the same run in the end. Part of `npm run test:full`. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli } from '../integration/cli-process.ts';
import { drawMoments, MOMENTS, trainWithKills } from './kills.ts';
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

it('so does one in the real world, with tools and pictures', async () => {
  const { folder, config } = parleyFolder({
    name: 'tabletop',
    planner: {
      init: { layers: 2, hidden: 64, intermediate: 96, heads: 4, kvHeads: 2, vocabulary: 600, context: 2048 },
    },
    harness: {
      adapter: 'tabletop-skills',
      suites: ['tabletop_object_swap'],
      tasks: { tabletop_object_swap: [0, 1] },
      concurrency: 2,
      limits: { turns: 8, seconds: 900, responseTokens: 64, idleSeconds: 600 },
    },
    teacher: { episodesPerTask: 3 },
    sft: { learningRate: 3e-3, batch: 8, warmupSteps: 2, epochs: 3, checkpoints: 2 },
    rl: { rounds: 1, groupsPerRound: 2, attemptsPerGroup: 3, learningRate: 1e-4, batch: 16 },
    evaluation: { states: [1], selectionStates: [45], sampling: { topP: 1, topK: -1, presencePenalty: 0 } },
  });
  const undisturbed = join(folder, 'undisturbed');
  expect(await cli(folder, ['train', config, '--run', undisturbed, '--json'])).toMatchObject({ code: 0 });
  const names = ['teacher episodes', 'checkpoint 1', 'policy v1', 'episodes of round 1', 'the evaluation of the base'];
  const moments = MOMENTS.filter(({ name }) => names.includes(name)).map((moment) => ({ ...moment, skip: 0 }));
  const killed = join(folder, 'killed');
  const kills = await trainWithKills(folder, config, killed, moments, SEED);
  expect(new Set(kills.map(({ stage }) => stage))).toContain('rl');
  expect(differences(normalForm(undisturbed), normalForm(killed))).toEqual([]);
}, 1_800_000);
