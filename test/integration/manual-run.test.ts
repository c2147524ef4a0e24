/** What is kept of an episode that is recorded by hand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ManualRun } from '../../cli/recording/manual-run.ts';
import { openRecording } from '../../recordings/index.ts';
import { DialectBench } from './dialect-bench.ts';

const bench = new DialectBench();

it('an episode that lost a call says so in its record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'arrl manual '));
  const run = await ManualRun.create(join(folder, 'run'), { kind: 'vllm', url: bench.server.url, model: 'm' });
  const episode = bench.open();
  const ask = () =>
    bench.openai(episode).chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
  bench.sink.full = /calls/;
  await expect(ask()).rejects.toMatchObject({ status: 503, code: 'recording_failed' });
  bench.sink.full = undefined;
  await ask();
  await run.finish(episode, run.nextEpisode().init, new Date());
  await run.store.close();
  const recording = await openRecording(join(folder, 'run'));
  expect(await (await recording.episodes('evaluations/recorded')).get(0)).toMatchObject({
    valid: false,
    turns: 1,
    invalidReason:
      'recorded without an adapter: no outcome; not to be trained on: 1 of its calls could not be recorded',
  });
  await recording.close();
  rmSync(folder, { recursive: true, force: true });
});
