/** `train`, killed with SIGKILL and resumed. Three kills here; twenty in twenty-kills.full.test.ts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli } from '../integration/cli-process.ts';
import { MOMENTS, type Moment, trainWithKills } from './kills.ts';
import { differences, normalForm } from './normal-form.ts';
import { parleyConfig, parleyFolder } from './parley-run.ts';

function setConcurrency(run: string, concurrency: number): void {
  const path = join(run, 'run.json');
  const info = JSON.parse(readFileSync(path, 'utf8')) as { config: { harness: { concurrency: number } } };
  info.config.harness.concurrency = concurrency;
  writeFileSync(path, JSON.stringify(info));
}

const moment = (name: string) => MOMENTS.find((each) => each.name === name) as Moment;

it('deterministic: a run killed three times ends as the undisturbed one', async () => {
  const { folder, config } = parleyFolder();
  const undisturbed = join(folder, 'undisturbed');
  expect(await cli(folder, ['train', config, '--run', undisturbed, '--json'])).toMatchObject({ code: 0 });
  const form = normalForm(undisturbed);
  // The run is worth comparing: rewards differ within groups, so that every update has steps.
  for (const round of ['0001', '0002'])
    expect(form[join('rounds', round, 'steps.jsonl')].split('\n').length).toBeGreaterThan(1);

  const killed = join(folder, 'killed');
  const moments = [moment('checkpoint 2'), moment('the update of round 1'), moment('episodes of round 2')];
  // Each life plays another number of episodes at a time, which must not matter.
  let life = 0;
  const kills = await trainWithKills(folder, config, killed, moments, 4, () => setConcurrency(killed, ++life));
  setConcurrency(killed, parleyConfig.harness.concurrency as number);
  expect(kills.map(({ stage }) => stage)).toEqual(['sft', 'rl', 'rl']);
  expect(differences(form, normalForm(killed))).toEqual([]);
}, 400_000);

/** Whole lines of a file; none when there is no file. */
function linesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}
const idOf = (line: string) => (JSON.parse(line) as { id: string }).id;

it('otherwise: finished episodes stay as they are, byte for byte, and only unfinished ones run again', async () => {
  const { folder, config } = parleyFolder({ serving: { ...parleyConfig.serving, deterministic: false } });
  const run = join(folder, 'run');
  const sections = ['teacher', 'rounds/0001', 'evaluations/validation-v0001-k02'].map((name) => join(run, name));
  const snapshot = () =>
    sections.map((section) => ({
      section,
      episodes: linesOf(join(section, 'episodes.jsonl')),
      calls: linesOf(join(section, 'calls.jsonl')),
    }));
  const atDeath: ReturnType<typeof snapshot> = [];
  const moments = ['teacher episodes', 'validation of a checkpoint', 'episodes of round 1'].map(moment);
  await trainWithKills(folder, config, run, moments, 9, () => atDeath.push(...snapshot()));

  let unfinished = 0;
  for (const { section, episodes, calls } of atDeath) {
    const now = linesOf(join(section, 'episodes.jsonl'));
    expect(now.slice(0, episodes.length)).toEqual(episodes);
    expect(new Set(now.map(idOf)).size).toBe(now.length);
    const finished = new Set(episodes.map(idOf));
    const callsNow = new Set(linesOf(join(section, 'calls.jsonl')));
    for (const line of calls) {
      const { episode } = JSON.parse(line) as { episode: string };
      if (finished.has(episode)) expect(callsNow.has(line)).toBe(true);
      else unfinished++;
    }
  }
  // The kills did cut episodes short, whose calls are kept apart.
  expect(atDeath.some(({ episodes }) => episodes.length > 0)).toBe(true);
  expect(unfinished).toBeGreaterThan(0);
  expect(sections.flatMap((section) => linesOf(join(section, 'interrupted.jsonl'))).length).toBeGreaterThan(0);
}, 400_000);
