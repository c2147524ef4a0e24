/** The recorded run that is shipped: whole, small, of nobody's machine, and shown as it was recorded. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listEpisodes } from '../../../cli/replay/choose.ts';
import { printText } from '../../../cli/replay/print.ts';
import type { SampleRecord } from '../../../protocol/records.ts';
import { isDamaged, openRecording, type Recording, readTrajectory } from '../../../recordings/index.ts';
import { imagesOf } from '../../../recordings/replay/facts.ts';
import { openReplayEpisode, roundOf } from '../../../recordings/replay/index.ts';
import { tokensOf } from '../../../recordings/replay/tokens.ts';
import { vocabularyOf } from '../../../recordings/replay/vocabulary.ts';
import { damagedPolicies } from '../../../trainer-daemon/training/policy-damage.ts';
import { memoryTerminal } from '../cli/memory-terminal.ts';

const folder = resolve(import.meta.dirname, '../../../examples/sample-run');
const LARGEST = 3_000_000;
let files: string[];
beforeAll(() => {
  files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
});

async function opened(): Promise<Recording> {
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  return recording;
}

async function samplesOf(recording: Recording, round: number): Promise<Map<string, SampleRecord>> {
  const samples = new Map<string, SampleRecord>();
  for await (const sample of await recording.samples(round)) {
    if (isDamaged(sample)) throw new Error(sample.damaged);
    samples.set(sample.call, sample);
  }
  return samples;
}

describe('the sample run', () => {
  it('is small, holds no weights, and tells of no machine', () => {
    const size = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(size).toBeLessThan(LARGEST);
    expect(files.filter((name) => !/\.(?:md|jsonl?|png|jinja)$/.test(name))).toEqual([]);
    for (const name of files.filter((one) => !one.endsWith('.png'))) {
      const text = readFileSync(join(folder, name), 'utf8');
      // Absolute paths of any system, and addresses other than the loopback one.
      expect(
        text.match(/(?<![\w.<])\/(?:home|root|tmp|work|usr|var|opt|Users|mnt)\/|[A-Za-z]:\\\\|file:\/\//),
        name,
      ).toBeNull();
      expect(
        [...text.matchAll(/https?:\/\/([^/"\s)]+)/g)]
          .map(([, host]) => host)
          .filter((host) => !host.startsWith('127.0.0.1:')),
      ).toEqual([]);
    }
    const info = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
    expect([info.configFolder, info.workspaceCommit]).toEqual(['.', null]);
  });

  it('can be read to the last call, and what is shown of each is what samples.jsonl says', async () => {
    const recording = await opened();
    let calls = 0;
    for (const { section, id } of await listEpisodes(recording)) {
      const episode = await openReplayEpisode(recording, section, id);
      expect(episode.outcome.record?.turns).toBe(episode.length);
      const round = roundOf(section);
      const samples = round === undefined ? undefined : await samplesOf(recording, round);
      const terminal = memoryTerminal();
      await printText(terminal, episode);
      // A head, each call, the outcome.
      expect(terminal.output).toHaveLength(episode.length + 2);
      for (let position = 0; position < episode.length; position++) {
        const { call, problems, sample } = await episode.call(position);
        if (isDamaged(call)) throw new Error(`${id}: ${call.damaged}`);
        expect(problems).toEqual([]);
        calls++;
        if (!samples) continue;
        const recorded = samples.get(call.id);
        expect(sample).toEqual(recorded);
        const shown = terminal.output[position + 1].split('\n')[1].trim().split(' · ');
        const number = (name: string) => shown.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1);
        const close = (name: string, value: number | null | undefined) =>
          value === null || value === undefined
            ? expect(number(name)).toBeUndefined()
            : expect(Number(number(name))).toBeCloseTo(value, 5);
        close('advantage', recorded?.advantage);
        close('u', recorded?.u);
        close('L', recorded?.responseLength);
        expect(shown).toContain(recorded?.status);
      }
    }
    expect(calls).toBeGreaterThan(200);
  });

  it('has successes and failures, trained rounds, pictures, motions, and the texts of tokens', async () => {
    const recording = await opened();
    const suites = new Set<string>();
    let pictures = 0;
    const rewards = { teacher: new Set(), rounds: new Set(), evaluations: new Set() } as Record<string, Set<unknown>>;
    for (const { section, id, task, reward } of await listEpisodes(recording)) {
      const episode = await openReplayEpisode(recording, section, id);
      const { record } = episode.outcome;
      if (!record) throw new Error(`${id} has no record`);
      suites.add(String(task).split('/')[0]);
      rewards[section.split('/')[0]].add(reward);
      const trajectory = await readTrajectory(folder, record);
      expect(trajectory && !isDamaged(trajectory)).toBe(true);
      const last = await episode.call(episode.length - 1);
      if (isDamaged(last.call)) throw new Error(last.call.damaged);
      for (const { sha256 } of imagesOf(last.call.request.messages)) {
        const blob = await recording.blob(String(sha256));
        expect(blob && !isDamaged(blob) && blob.mediaType).toBe('image/png');
        pictures++;
      }
      if (section === 'teacher') continue;
      const tokens = tokensOf(last, await vocabularyOf(recording, last.call.policyVersion));
      expect(tokens.length).toBeGreaterThan(0);
      for (const token of tokens) expect(token.text).not.toBeNull();
    }
    expect(suites.size).toBe(8);
    expect(pictures).toBeGreaterThan(0);
    expect(rewards.rounds).toEqual(new Set([0, 1]));
    expect(rewards.evaluations).toEqual(new Set([0, 1]));
    for (const round of [1, 2]) {
      const selected = [...(await samplesOf(recording, round)).values()].filter(({ status }) => status === 'selected');
      expect(selected.length).toBeGreaterThan(0);
      for (const { call } of selected) expect(await (await recording.scores(round)).allById(call)).toHaveLength(1);
    }
  });

  it('is no damaged run, although its weights are left out', async () => {
    const recording = await opened();
    const lines = (await (await recording.journal()).read()).flatMap((line) => (isDamaged(line) ? [] : [line]));
    expect(lines.at(-1)?.event.type).toBe('run-finished');
    expect(await damagedPolicies(folder, lines)).toEqual([]);
  });
});
