/** The run page's data, of a real training followed through a real daemon. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { withChange } from '../../extension/run-page/changes.ts';
import { Conversation } from '../../extension/run-page/conversation.ts';
import type { PageData } from '../../extension/run-page/data.ts';
import { type ToPage, toPageSchema } from '../../extension/run-page/messages.ts';
import { plotTable } from '../../extension/run-page/plots.ts';
import { recordedModel } from '../../extension/run-page/recorded-source.ts';
import { pageWords } from '../../extension/run-page/wording.ts';
import type { JournalLine } from '../../protocol/journal.ts';
import type { EvaluationSummary, RoundSummary, StepRecord } from '../../protocol/records.ts';
import { bench } from './daemon-bench.ts';
import { finished, followedTraining } from './followed-page.ts';

const lines = <T>(path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T);

it('a training shows live what its records say at the end; who opens the page later sees the same', async () => {
  const workplace = bench();
  const { daemon, run, directory, source, open } = await followedTraining(workplace);
  onTestFinished(() => source.dispose());

  // A page that is there from the beginning, once hidden and shown again.
  const sent: ToPage[] = [];
  let shown: PageData | undefined;
  const conversation = new Conversation(
    source.model,
    pageWords({ t: (text) => text }),
    { folder: 'file:///w', run },
    {
      post: (message) => {
        const read = toPageSchema.parse(JSON.parse(JSON.stringify(message)));
        sent.push(read);
        if (read.type === 'snapshot') shown = read.data;
        else if (shown) shown = withChange(shown, read);
      },
      save: () => {},
      log: (text) => workplace.said.push(text),
    },
  );
  source.onChange(() => conversation.changed());
  onTestFinished(() => conversation.dispose());
  conversation.hear({ type: 'ready' });
  expect(sent).toMatchObject([{ type: 'snapshot', data: { head: { run: 'runs/page', state: 'running' } } }]);
  await expect.poll(() => shown?.work?.total ?? 0).toBeGreaterThan(0);
  conversation.gone();
  const before = sent.length;
  await expect.poll(() => source.model.data(Date.now()).stages.filter(({ state }) => state === 'done').length).toBe(1);
  expect(sent).toHaveLength(before);
  conversation.hear({ type: 'ready' });
  await finished(source);
  const whole = () => JSON.stringify(source.model.data(Date.now()));
  await expect.poll(() => JSON.stringify(shown) === whole()).toBe(true);
  expect(sent.some((message) => message.type === 'change' && message.news.length > 0)).toBe(true);

  // Against the records themselves.
  const data = source.model.data(Date.now());
  expect(data.stages.map(({ stage, state, share }) => [stage, state, share])).toEqual(
    ['teacher', 'sft', 'rl', 'evaluate'].map((stage) => [stage, 'done', 1]),
  );
  expect(data.rounds.map(({ round, state }) => [round, state])).toEqual([
    [0, null],
    [1, 'finished'],
    [2, 'finished'],
  ]);
  for (const { round, rollouts, invalid, meanReward, samples, validation } of data.rounds.slice(1)) {
    const told = JSON.parse(readFileSync(join(directory, `rounds/000${round}/summary.json`), 'utf8')) as RoundSummary;
    expect([rollouts?.successes, (rollouts?.episodes ?? 0) + invalid]).toEqual([told.successes, told.episodes]);
    expect(meanReward).toBeCloseTo(told.meanReward, 9);
    expect(samples).toEqual(told.samplesByStatus);
    expect(validation?.episodes).toBeGreaterThan(0);
  }
  const recorded = ['sft', 'rounds/0001', 'rounds/0002'].flatMap((section) =>
    lines<StepRecord>(join(directory, section, 'steps.jsonl')),
  );
  expect(recorded.length).toBeGreaterThan(2);
  expect(data.steps.map(({ stage, step, loss }) => [stage, step, loss])).toEqual(
    recorded.map(({ stage, step, loss }) => [stage, step, loss]),
  );
  for (const [place, label] of ['base', 'SFT'].entries()) {
    const planner = data.evaluations?.planners[place];
    const path = join(directory, `evaluations/evaluation-v000${place}/summary.json`);
    const { total, suites } = JSON.parse(readFileSync(path, 'utf8')) as EvaluationSummary;
    expect(planner).toMatchObject({ label, invalid: total.invalid, overall: { successes: total.successes } });
    expect(Object.keys(planner?.suites ?? {})).toEqual(Object.keys(suites));
  }
  expect(data.evaluations?.comparisons.map(({ a, b }) => `${b} > ${a}`)).toHaveLength(3);

  // Read from the files alone, as where nothing may be run: the same without comparisons.
  const read = (await recordedModel(directory, { run, words: 'only read' })).data(Date.now());
  const { head, stages, rounds, steps, evaluations } = JSON.parse(JSON.stringify(data)) as PageData;
  expect(read).toMatchObject({ stages, rounds, steps, head: { ...head, connection: 'only read' }, work: null });
  expect(read.evaluations).toEqual({ planners: evaluations?.planners, comparisons: [] });
  await expect(recordedModel(join(directory, 'policies'), { run, words: '' })).rejects.toThrow(/run/);

  // The daemon goes: the page says why nothing new comes, and keeps what it has.
  await daemon.stop('now');
  expect(source.model.data(Date.now())).toMatchObject({
    head: { connection: expect.stringContaining('daemon') },
    rounds: data.rounds,
  });
  await expect(open()).rejects.toThrow(/daemon/);

  // Another one comes. The journal is now so long that a state is told in its place, and steps come from their files.
  const journal = join(directory, 'journal.jsonl');
  const entries = lines<JournalLine>(journal);
  const last = entries[entries.length - 1];
  const warnings = [...Array(2500).keys()].map(
    (n): JournalLine => ({
      ...last,
      seq: n + 2,
      event: { type: 'warning', message: `warning ${n}` },
    }),
  );
  const longer = [entries[0], ...warnings, ...entries.slice(1).map((line, n) => ({ ...line, seq: n + 2502 }))];
  writeFileSync(journal, longer.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await daemon.start();
  const second = await open();
  onTestFinished(() => second.dispose());
  await finished(second);
  for (const { model } of [second, source]) {
    const now = () => model.data(Date.now());
    await vi.waitFor(() => expect(now().head.warningCount).toBe(2500 + data.head.warningCount), 30_000);
    await vi.waitFor(() => expect(now().steps).toHaveLength(recorded.length), 30_000);
    expect(now()).toMatchObject({ rounds: data.rounds, steps: data.steps, evaluations: data.evaluations });
    expect(now().head).toMatchObject({ connection: null, state: 'finished', problem: null });
    expect(plotTable(now(), 'success')).toEqual(plotTable(data, 'success'));
  }
});
