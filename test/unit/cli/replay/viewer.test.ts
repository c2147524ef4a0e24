/** The replay on a screen, driven by keys. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Candidate } from '../../../../cli/replay/choose.ts';
import { showFullScreen } from '../../../../cli/replay/full-screen.ts';
import { EpisodePicker } from '../../../../cli/replay/picker.ts';
import { ReplayViewer } from '../../../../cli/replay/viewer.ts';
import { openRecording } from '../../../../recordings/index.ts';
import { openReplayEpisode } from '../../../../recordings/replay/index.ts';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { callsOf, recordedGroup, SECTION, TURNS } from '../../recordings/replay/hand-made.ts';
import { episode, runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';
import { KEYS, TestTerminal } from './devices.ts';

async function viewed(folder: string, id = 'e0', size = { rows: 24, columns: 80 }) {
  const recording = await openRecording(folder);
  const terminal = new TestTerminal();
  Object.assign(terminal.output, size);
  const viewer = new ReplayViewer(await openReplayEpisode(recording, SECTION, id));
  const result = showFullScreen(viewer, terminal.devices());
  onTestFinished(async () => {
    terminal.type(KEYS.interrupt);
    await result;
    await recording.close();
  });
  return { terminal, result };
}

describe('the replay on a screen', () => {
  it('steps through an episode and back over the same screens', async () => {
    const { terminal, result } = await viewed(await recordedGroup());
    await terminal.shows(/call 1 of 4/);
    const forwards: string[] = [];
    for (const wanted of [/call 2 of 4/, /call 3 of 4/, /call 4 of 4/, /the outcome/]) {
      forwards.push(terminal.text);
      terminal.type(KEYS.right);
      await terminal.shows(wanted);
    }
    terminal.type(KEYS.right);
    await terminal.shows(/this is the end of the episode/);
    const back: string[] = [];
    for (const wanted of [/call 4 of 4/, /call 3 of 4/, /call 2 of 4/, /call 1 of 4/]) {
      terminal.type(KEYS.left);
      await terminal.shows(wanted);
      back.unshift(terminal.text);
    }
    expect(back).toEqual(forwards);
    terminal.type(KEYS.left);
    await terminal.shows(/this is the first call/);
    terminal.type(KEYS.end);
    await terminal.shows(/the outcome/);
    terminal.type(KEYS.home);
    await terminal.shows(/call 1 of 4/);
    terminal.type('q');
    expect(await result).toBe('quit');
  });

  it('shows credit, tokens and scores as they are recorded', async () => {
    const { terminal } = await viewed(await recordedGroup());
    await terminal.shows(/call 1 of 4 · advantage /);
    terminal.type('t');
    await terminal.shows(/log b +log q +log p/);
    expect(terminal.text).toMatch(/0 +4 .*-0\.2500/);
    expect(terminal.text).toMatch(/1 +5 .*-1\.5000/);
    terminal.type('t');
    await terminal.shows(/reasoning:/);
  });

  it('goes to the other attempts of the group and to turns, and says where there are none', async () => {
    const { terminal } = await viewed(await recordedGroup());
    await terminal.shows(/group \[/);
    terminal.type(KEYS.right);
    await terminal.shows(/call 2 of 4/);
    terminal.type('n');
    await terminal.shows(/call 2 of 2/);
    terminal.type('nn');
    await terminal.shows(/this is the last attempt/);
    expect(terminal.text).toMatch(/call 1 of 1/);
    terminal.type('ppp');
    await terminal.shows(/this is the first attempt/);
    terminal.type('g3\r');
    await terminal.shows(/call 4 of 4/);
    terminal.type('g9\r');
    await terminal.shows(/has no turn 9/);
    terminal.type('gx\r');
    await terminal.shows(/"x" is no number/);
  });

  it('searches through the calls, from the start again, and says when there is nothing', async () => {
    const { terminal } = await viewed(await recordedGroup());
    terminal.type('/PLACED\r');
    await terminal.shows(/call 3 of 4[\s\S]*placed/);
    terminal.type('/thought 0\r');
    await terminal.shows(/call 1 of 4/);
    terminal.type('/thought\r');
    await terminal.shows(/call 2 of 4/);
    terminal.type('/\r');
    await terminal.shows(/call 3 of 4/);
    terminal.type('/nowhere to be seen\r');
    await terminal.shows(/is nowhere in the episode/);
    terminal.type('/outcome\r');
    await terminal.shows(/the outcome/);
  });

  it('scrolls what is longer than the screen, breaks long lines, and shows the whole request', async () => {
    const long = Array.from({ length: 60 }, (_, k) => `line ${k} ${'word '.repeat(30)}`).join('\n');
    const turns = [...TURNS.slice(0, 1), { content: long }];
    const { terminal } = await viewed(await recordedGroup({ turns }));
    terminal.type(KEYS.right);
    await terminal.shows(/1-18 of \d+/);
    for (const line of terminal.lines) expect(line.length).toBeLessThanOrEqual(80);
    terminal.type(KEYS.down.repeat(3));
    await terminal.shows(/4-21 of/);
    terminal.type(KEYS.pageDown);
    await terminal.shows(/22-39 of/);
    terminal.resize(30, 120);
    await expect.poll(() => terminal.lines.length).toBe(30);
    terminal.type('c');
    await terminal.shows(/request, other fields/);
    terminal.type('?');
    await terminal.shows(/left, right/);
    terminal.type('\u001b');
    await terminal.shows(/reasoning|request/);
  });

  it('shows a damaged call as such, and steps on', async () => {
    const folder = await recordedGroup();
    appendFileSync(join(folder, SECTION, 'calls.jsonl'), '{"version":1,"id":"e0.c4","episode":"e0","turn":"x"}\n');
    const { terminal } = await viewed(folder);
    terminal.type(KEYS.end);
    await terminal.shows(/the outcome/);
    terminal.type(KEYS.left);
    await terminal.shows(/call 5 of 5[\s\S]*damaged:/);
    terminal.type(KEYS.left);
    await terminal.shows(/call 4 of 5/);
  });

  it('follows an episode that is being written, and stays where one parks', async () => {
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section(SECTION);
    const calls = callsOf('e0', TURNS);
    await section.appendCall(calls[0]);
    await section.appendCall(calls[1]);
    const { terminal } = await viewed(folder);
    await terminal.shows(/call 2 of 2 .*following/);
    await section.appendCall(calls[2]);
    await terminal.shows(/call 3 of 3 .*following/);
    terminal.type(KEYS.left);
    await terminal.shows(/call 2 of 3 .*parked/);
    await section.appendCall(calls[3]);
    await terminal.shows(/call 2 of 4 .*parked/);
    terminal.type(KEYS.end);
    await terminal.shows(/call 4 of 4 .*following/);
    await section.appendEpisode({ ...episode('e0'), turns: 4 });
    await run.journal({ type: 'run-finished', seconds: 1 });
    await terminal.shows(/the outcome[\s\S]*reward 1/);
    await run.close();
  });
});

describe('the list of episodes', () => {
  const one = (id: string, task: string | null): Candidate => ({
    state: task === null ? 'running' : 'ended',
    ...{ section: SECTION, id, task, init: 11, attempt: 0, valid: true, turns: 3 },
    reward: task === null ? null : 1,
  });
  const picked = () => {
    const terminal = new TestTerminal();
    const all = [
      one('a', 's/0'),
      one('b', 's/1'),
      one('c', null),
      ...Array.from({ length: 60 }, (_, k) => one(`d${k}`, `t/${k}`)),
    ];
    return { terminal, result: showFullScreen(new EpisodePicker('demo', all), terminal.devices()) };
  };

  it('is walked by keys and gives the episode that is chosen', async () => {
    const { terminal, result } = picked();
    await terminal.shows(/demo · 63 episodes[\s\S]*> rounds\/0001 +reward 1/);
    terminal.type(KEYS.down.repeat(2));
    await terminal.shows(/> rounds\/0001 +running +c/);
    terminal.type(KEYS.end);
    await terminal.shows(/> .*t\/59/);
    terminal.type(KEYS.home);
    terminal.type(`${KEYS.down}\r`);
    expect(await result).toMatchObject({ id: 'b' });
  });

  it('tells its keys, and goes back to the list where it was', async () => {
    const { terminal, result } = picked();
    await terminal.shows(/\? keys/);
    terminal.type(`${KEYS.down}?`);
    await terminal.shows(/return +replays the episode/);
    expect(terminal.text).not.toContain('> rounds');
    for (const back of ['q', '?', '\r']) {
      terminal.type(back);
      await terminal.shows(/> rounds\/0001/);
      terminal.type('?');
      await terminal.shows(/q, Ctrl-C +quit/);
    }
    // In a filter a question mark is text.
    terminal.type('q');
    terminal.type('/');
    await terminal.shows(/with "▏"/);
    terminal.type('?');
    await terminal.shows(/with "\?▏"/);
    terminal.type('\u007f\r\r');
    expect(await result).toMatchObject({ id: 'a' });
  });

  it('is filtered by what is typed', async () => {
    const { terminal, result } = picked();
    terminal.type('/t/4');
    await terminal.shows(/11 episodes/);
    terminal.type('\r');
    terminal.type('q');
    expect(await result).toBe('quit');
  });
});
