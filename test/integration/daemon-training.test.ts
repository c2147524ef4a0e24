/** Training through a real daemon: what clients see, and what survives them and it. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { FollowedRun } from '../../extension/daemon/followed-run.ts';
import type { JournalLine } from '../../protocol/journal.ts';
import { applyJournal, emptyRunState } from '../../protocol/run-state.ts';
import { differences, normalForm } from '../endurance/normal-form.ts';
import { parleyConfig } from '../endurance/parley-run.ts';
import { cli } from './cli-process.ts';
import { bench, entry, kill, news, state } from './daemon-bench.ts';
import { quickConfig } from './quick-run.ts';

const journalOn = (run: string) =>
  readFileSync(join(run, 'journal.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JournalLine);

it('trains on while a client is killed; another takes up where that one was; stopped after an episode and resumed', async () => {
  const { folder, environment, places, writeConfig, client } = bench();
  const first = client();
  await first.start();
  const {
    run,
    directory,
    state: begun,
    writer,
  } = await first.request('runs.start', {
    config: writeConfig('quick.training.yaml', { ...quickConfig, teacher: { episodesPerTask: 6 } }),
  });
  expect([begun, writer]).toEqual(['running', 'daemon']);
  // Once it is at work, nothing else can be started here.
  await expect(first.request('runs.start', { config: 'quick.training.yaml' })).rejects.toMatchObject({
    kind: 'busy',
    data: { run },
  });

  // A client in another process, which is killed in the middle.
  const watcher = spawn(process.execPath, [resolve(import.meta.dirname, 'daemon-watcher.mjs'), places.record, run], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seen: JournalLine[] = [];
  await new Promise<void>((done) => {
    let text = '';
    watcher.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) seen.push(JSON.parse(line) as JournalLine);
      if (seen.length >= 3) done();
    });
  });
  watcher.kill('SIGKILL');
  first.dispose();

  // Nobody is there now; the daemon and its run are.
  const second = client();
  expect(await second.attach()).toBe(true);
  const followed = new FollowedRun(second, run, () => {});
  for (const line of seen) applyJournal(followed.state, line);
  const received: number[] = [];
  followed.onNews((one) => one.kind === 'journal' && received.push(one.line.seq));
  await news(followed, entry('episode-finished'));
  const ended = news(followed, (one) => one.kind === 'ended');
  expect(await second.request('runs.stop', { run, mode: 'episode' })).toMatchObject({ stopping: 'episode' });
  expect(await ended).toMatchObject({ ended: { run, outcome: 'stopped', message: null } });
  const stopped = journalOn(directory);
  expect(stopped.at(-1)?.event).toEqual({ type: 'run-stopped', reason: 'episode' });
  // Not one entry twice, not one left out.
  expect(received).toEqual(stopped.slice(seen.length).map(({ seq }) => seq));
  expect(await second.request('runs.list', {})).toMatchObject([{ run, state: 'stopped', writer: null }]);

  const finished = news(followed, (one) => one.kind === 'ended');
  await second.request('runs.resume', { run });
  expect(await finished).toMatchObject({ ended: { outcome: 'finished', table: expect.stringContaining('base') } });
  const whole = emptyRunState();
  for (const line of journalOn(directory)) applyJournal(whole, line);
  expect(followed.state).toEqual(whole);
  expect(whole.phase).toBe('finished');
  const snapshot = await second.request('runs.snapshot', { run });
  expect(snapshot.state).toEqual(whole);
  expect(snapshot.sections).toContain('rounds/0001');
  expect(existsSync(join(folder, '.agentic-robo-rl', '.gitignore'))).toBe(true);
});

it('a daemon killed with SIGKILL: the client tells it, and the resumed run loses nothing', async () => {
  const { folder, record, writeConfig, client } = bench();
  const config = writeConfig('parley.training.yaml', parleyConfig);
  const undisturbed = join(folder, 'runs', 'undisturbed');
  expect(await cli(folder, ['train', config, '--run', undisturbed, '--json'])).toMatchObject({ code: 0 });

  const one = client();
  await one.start();
  const { run, directory } = await one.request('runs.start', { config, directory: 'runs/killed' });
  const followed = new FollowedRun(one, run, () => {});
  await news(
    followed,
    entry('step', ({ record: { stage, step } }) => stage === 'rl' && step >= 1),
  );
  kill(record().pid, 'SIGKILL');
  await state(one, 'failed');
  expect(one.status.message).toMatch(/ended unexpectedly/);
  const atDeath = followed.state.seq;

  await one.start();
  expect(await one.request('runs.list', {})).toMatchObject([
    { run, state: 'interrupted', writer: null },
    { run: 'runs/undisturbed', state: 'finished' },
  ]);
  const ended = news(followed, (each) => each.kind === 'ended');
  await one.request('runs.resume', { run });
  expect(await ended).toMatchObject({ ended: { outcome: 'finished' } });
  expect(followed.state.seq).toBeGreaterThan(atDeath);
  expect(differences(normalForm(undisturbed), normalForm(directory))).toEqual([]);
});

it('stopped at once, and with the daemon: the run goes on where it was', async () => {
  const { writeConfig, client } = bench();
  const one = client();
  await one.start();
  // An episode of this harness would go on for long; only an end at once is quick.
  const { run, directory } = await one.request('runs.start', { config: writeConfig('p.training.yaml', parleyConfig) });
  const followed = new FollowedRun(one, run, () => {});
  const ticks: unknown[] = [];
  followed.onNews((each) => each.kind === 'progress' && ticks.push(each.tick));
  await news(followed, entry('episode-finished'));
  await expect(one.restart('idle')).rejects.toMatchObject({ kind: 'busy', data: { run } });
  expect(one.status.state).toBe('ready');
  await one.request('runs.stop', { run, mode: 'round' });
  // A finer wish counts, a coarser one after it does not.
  expect(await one.request('runs.stop', { run, mode: 'now' })).toMatchObject({ stopping: 'now' });
  const ended = news(followed, (each) => each.kind === 'ended');
  await one.request('runs.stop', { run, mode: 'episode' }).catch(() => {});
  expect(await ended).toMatchObject({ ended: { outcome: 'stopped' } });
  expect(journalOn(directory).at(-1)?.event).toEqual({ type: 'run-stopped', reason: 'now' });
  expect(ticks).toContainEqual(expect.objectContaining({ stage: 'teacher', unit: 'episodes' }));

  const again = news(followed, entry('run-resumed'));
  await one.request('runs.resume', { run, stages: ['teacher'] });
  await again;
  const before = (await one.request('daemon.status', {})).pid;
  await one.restart('now');
  expect((await one.request('daemon.status', {})).pid).not.toBe(before);
  expect(['run-stopped', 'run-finished']).toContain(journalOn(directory).at(-1)?.event.type);
  const finished = await one.request('runs.resume', { run, stages: ['teacher'] });
  expect(finished.run).toBe(run);
  await expect.poll(async () => (await one.request('runs.list', {}))[0].state).toBe('finished');
  await expect.poll(() => followed.state.sections[0]).toMatchObject({ section: 'teacher', episodes: 12 });
});

it('SIGTERM ends the running episodes and leaves a run that can be resumed; the client sees a daemon that has left', async () => {
  const { record, places, writeConfig, client, log } = bench();
  const one = client();
  await one.start();
  const { run, directory } = await one.request('runs.start', { config: writeConfig('q.training.yaml', quickConfig) });
  const followed = new FollowedRun(one, run, () => {});
  await news(followed, entry('episode-finished'));
  const { pid, token } = record();
  kill(pid, 'SIGTERM');
  await state(one, 'stopped');
  expect(one.status.message).toBe('the daemon has ended (signal)');
  expect(journalOn(directory).at(-1)?.event).toEqual({ type: 'run-stopped', reason: 'signal' });
  expect(existsSync(places.record)).toBe(false);
  expect(existsSync(places.copy)).toBe(false);
  expect(log()).not.toContain(token);

  await one.start();
  const ended = news(followed, (each) => each.kind === 'ended');
  await one.request('runs.resume', { run });
  expect(await ended).toMatchObject({ ended: { outcome: 'finished' } });
});
