/** Following runs that others write: in order and once, whatever the connection does. */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FollowedRun } from '../../extension/daemon/followed-run.ts';
import type { RunSnapshot } from '../../protocol/daemon.ts';
import type { JournalLine } from '../../protocol/journal.ts';
import { createRun, readStopRequest } from '../../trainer-daemon/store/index.ts';
import { bench, entry, news } from './daemon-bench.ts';
import { type Answer, greeted } from './daemon-raw.ts';
import { quick } from './quick-run.ts';

/** A run that this process writes, as a command line would. */
async function writtenRun(folder: string, name: string) {
  const directory = join(folder, 'runs', name);
  const store = await createRun(directory, {
    version: 1,
    id: '0123abcd',
    name,
    createdAt: new Date().toISOString(),
    config: quick() as unknown as Record<string, unknown>,
    configFolder: folder,
    software: {},
    adapterSha256: null,
    workspaceCommit: null,
  });
  let open = true;
  const close = async () => {
    if (open) await store.close();
    open = false;
  };
  onTestFinished(close);
  await store.journal({ type: 'run-started', run: '0123abcd', stages: ['teacher'] });
  let seq = 1;
  return {
    directory,
    store,
    close,
    /** Many entries at once, past the store, which would flush each. */
    append(count: number, size: number) {
      let text = '';
      for (let i = 0; i < count; i++) {
        const line: JournalLine = {
          seq: ++seq,
          at: new Date().toISOString(),
          event: { type: 'warning', message: `${seq} ${'x'.repeat(size)}` },
        };
        text += `${JSON.stringify(line)}\n`;
      }
      appendFileSync(join(directory, 'journal.jsonl'), text);
      return seq;
    },
  };
}

const seqOf = (message: Answer) => (message.params?.line as JournalLine | undefined)?.seq;
const entriesOf = (messages: Answer[]) => messages.flatMap((message) => seqOf(message) ?? []);

it('a run of the command line is seen, followed, and asked to stop', async () => {
  const { folder, client } = bench();
  const one = client();
  await one.start();
  const changed = new Promise<unknown>((resolve) => one.on('runs.changed', ({ summary }) => resolve(summary)));
  const other = await writtenRun(folder, 'by-hand');
  expect(await changed).toMatchObject({ run: 'runs/by-hand', state: 'running', writer: 'other', name: 'by-hand' });
  const followed = new FollowedRun(one, 'runs/by-hand', () => {});
  await news(followed, entry('run-started'));
  const told = news(followed, entry('stage-started'));
  await other.store.journal({ type: 'stage-started', stage: 'teacher' });
  await told;
  expect(followed.state).toMatchObject({ seq: 2, stage: 'teacher' });
  const asked = new Promise<unknown>((resolve) => one.on('runs.changed', ({ summary }) => resolve(summary)));
  await one.request('runs.stop', { run: 'by-hand', mode: 'episode' });
  expect(await asked).toMatchObject({ state: 'running', writer: 'other', stopping: 'episode' });
  expect(await readStopRequest(other.directory)).toMatchObject({ mode: 'episode' });
  await expect(one.request('runs.resume', { run: 'by-hand' })).rejects.toMatchObject({ kind: 'otherWriter' });
  await other.close();
  expect(await one.request('runs.list', {})).toMatchObject([
    { state: 'interrupted', writer: null, stopping: 'none', stage: 'teacher' },
  ]);
  await expect(one.request('runs.stop', { run: 'by-hand', mode: 'now' })).rejects.toMatchObject({ kind: 'notFound' });

  const removed = new Promise<unknown>((resolve) => one.on('runs.removed', resolve));
  rmSync(other.directory, { recursive: true });
  expect(await removed).toEqual({ run: 'runs/by-hand' });
});

it('a client that reads slowly holds up nobody, and gets a snapshot in place of what it missed', async () => {
  const { folder, client, record } = bench();
  const quickClient = client();
  await quickClient.start();
  const other = await writtenRun(folder, 'long');
  const slow = await greeted(record());
  await slow.ask('runs.subscribe', { run: 'runs/long' });
  await slow.until((message) => seqOf(message) === 1);
  const followed = new FollowedRun(quickClient, 'runs/long', () => {});
  await news(followed, entry('run-started'));

  slow.socket.pause();
  const before = (await quickClient.request('daemon.status', {})).memory;
  let last = 0;
  for (let part = 0; part < 30; part++) {
    last = other.append(100, 10_000);
    const there = last;
    await expect.poll(() => followed.state.seq).toBe(there);
  }
  // 30 MB went by; only about a megabyte of it may wait in the daemon.
  expect((await quickClient.request('daemon.status', {})).memory - before).toBeLessThan(150e6);
  slow.socket.resume();
  const { params } = await slow.until((message) => message.method === 'run.snapshot');
  expect(params).toMatchObject({ run: 'runs/long', reason: 'slow' });
  const next = other.append(3, 10);
  await slow.until((message) => seqOf(message) === next);

  const at = slow.received.findIndex((message) => message.method === 'run.snapshot');
  const { seq } = (params as { snapshot: RunSnapshot }).snapshot.state;
  const early = entriesOf(slow.received.slice(0, at));
  const late = entriesOf(slow.received.slice(at));
  expect(early).toEqual(early.map((_, i) => i + 1));
  expect(early.length).toBeLessThan(last);
  expect(late).toEqual(late.map((_, i) => seq + 1 + i));
  expect(late.at(-1)).toBe(next);
});

it('who comes late to a long run gets a snapshot first, and can read the entries page by page', async () => {
  const { folder, client, record } = bench();
  const one = client();
  await one.start();
  const other = await writtenRun(folder, 'late');
  const last = other.append(2500, 20);
  const late = await greeted(record());
  expect((await late.ask('runs.subscribe', { run: 'late' })).result).toEqual({ run: 'runs/late', seq: last });
  const { params } = await late.until((message) => message.method === 'run.snapshot');
  expect(params).toMatchObject({ reason: 'far-behind', snapshot: { state: { seq: last, warningCount: last - 1 } } });
  expect(entriesOf(late.received)).toEqual([]);
  const lines: JournalLine[] = [];
  for (;;) {
    const page = await one.request('runs.journal', { run: 'late', fromSeq: lines.length, limit: 1000 });
    lines.push(...page.lines);
    if (page.lines.length < 1000) break;
  }
  expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1));

  // A number that this run never had: the client knows another run under this name.
  await late.ask('runs.subscribe', { run: 'late', fromSeq: last + 10 });
  await expect.poll(() => late.received.filter(({ method }) => method === 'run.snapshot').length).toBe(2);
});

it('a damaged journal is told once, and a torn last line is waited for', async () => {
  const { folder, client } = bench();
  const one = client();
  await one.start();
  const other = await writtenRun(folder, 'broken');
  const followed = new FollowedRun(one, 'runs/broken', () => {});
  await news(followed, entry('run-started'));
  const journal = join(other.directory, 'journal.jsonl');
  const whole = JSON.stringify({ seq: 2, at: new Date().toISOString(), event: { type: 'warning', message: 'whole' } });
  appendFileSync(journal, whole.slice(0, 20));
  const told = news(followed, entry('warning'));
  await new Promise((resolve) => setTimeout(resolve, 700));
  appendFileSync(journal, `${whole.slice(20)}\n`);
  await told;
  const damaged = news(followed, ({ kind }) => kind === 'damaged');
  appendFileSync(journal, `{"seq":3,"at":"yesterday"}\n`);
  expect(await damaged).toMatchObject({ message: expect.stringContaining('journal.jsonl, line 3') });
  expect(await one.request('runs.list', {})).toMatchObject([
    { run: 'runs/broken', unread: expect.stringContaining('line 3') },
  ]);
});
