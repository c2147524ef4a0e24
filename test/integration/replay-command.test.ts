/** `replay` as people and scripts run it: as text, as JSON Lines, as a video, and on a real terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundlePath } from '../../trainer-daemon/bundles.ts';
import { cli, startCli } from './cli-process.ts';
import { EPISODES, SECTION, stagedRun } from './staged-run.ts';

let folder: string;
let bare: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'arrl replay ü-'));
  bare = join(folder, 'bare');
  await stagedRun(join(folder, 'runs', 'staged'));
  await stagedRun(bare, { trajectories: false, pictures: false });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const samples = () =>
  readFileSync(join(folder, 'runs', 'staged', SECTION, 'samples.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('replay without a terminal', () => {
  it('prints the whole episode, with what became of its calls', async () => {
    const { code, out, err } = await cli(folder, ['replay', 'staged', EPISODES[1]]);
    expect([code, err]).toEqual([0, '']);
    for (const [turn, tool] of ['detect', 'pick', 'pick', 'release', 'finish'].entries())
      expect(out).toMatch(new RegExp(`^turn ${turn} · ${tool} · `, 'm'));
    expect(out).toContain('advantage -1 · u 0.25 · L 8 · selected');
    expect(out).toMatch(/outcome · reward 0\n {2}valid/);
    const some = await cli(folder, ['replay', 'staged', EPISODES[1], '--turn', '3']);
    expect(some.out).not.toMatch(/^turn 2/m);
    expect(some.out).toMatch(/^turn 3/m);
  });

  it('prints JSON Lines whose numbers are those of the records', async () => {
    const { code, out } = await cli(folder, ['replay', 'staged', 'tabletop_goal_swap/2', '42', '0', '--json']);
    expect(code).toBe(0);
    const [head, ...calls] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(head).toMatchObject({ kind: 'episode', id: EPISODES[0], calls: 5, record: { reward: 1 } });
    expect(head.group).toHaveLength(3);
    expect(calls.map(({ sample }) => sample)).toEqual(samples().filter(({ episode }) => episode === EPISODES[0]));
    expect(calls.map(({ held }) => held)).toContain('black_bowl');
    expect(calls[1].tokens[0]).toMatchObject({ id: 0, logb: -0.25, logq: null });
    expect(calls[2].newMessages.some(({ content }: { content: unknown }) => Array.isArray(content))).toBe(true);
  });

  it('begins at the call with the lowest advantage', async () => {
    const { out } = await cli(folder, ['replay', 'staged', '--lowest-advantage', '--json']);
    const [head, first] = out.split('\n').map((line) => JSON.parse(line || 'null'));
    const lowest = Math.min(...samples().flatMap(({ advantage }) => advantage ?? []));
    expect(head.id).toBe(EPISODES[1]);
    expect(first.sample.advantage).toBe(lowest);
  });

  it('says which episodes there are where none, several or an unknown one is named', async () => {
    const several = await cli(folder, ['replay', 'staged']);
    expect(several.code).toBe(2);
    expect(several.err).toContain(`error: name one of these episodes: ${EPISODES[0]}, ${EPISODES[1]}`);
    const unknown = await cli(folder, ['replay', 'staged', 'nobody']);
    expect([unknown.code, unknown.out]).toEqual([2, '']);
    expect(unknown.err).toContain('no episode is named "nobody"; there are 3, such as');
    const turn = await cli(folder, ['replay', 'staged', EPISODES[2], '--turn', '7']);
    expect([turn.code, turn.err]).toEqual([2, expect.stringContaining('has no turn 7')]);
    expect((await cli(folder, ['replay', 'stagd', 'x'])).err).toContain('did you mean "staged"?');
  });
});

describe('replay --video', () => {
  const video = (file: string, ...more: string[]) =>
    cli(folder, ['replay', 'staged', EPISODES[0], '--video', file, '--size', '64x48', '--fps', '5', ...more]);

  it('writes the motion as MP4 and as GIF, with the frames it tells of', async () => {
    const { code, out, err } = await video('a.mp4', '--camera', 'side', '--json');
    expect([code, err]).toEqual([0, expect.stringMatching(/^writing a\.mp4: \d+ frames\n$/)]);
    const told = JSON.parse(out);
    const mp4 = readFileSync(join(folder, 'a.mp4'));
    expect(mp4.toString('latin1', 4, 8)).toBe('ftyp');
    expect(mp4.length).toBe(told.bytes);
    // Sizes of samples: version and flags, a common size, their number.
    expect(mp4.readUInt32BE(mp4.indexOf('stsz', 0, 'latin1') + 12)).toBe(told.frames);

    expect((await video('a.gif')).out).toMatch(/^a\.gif: \d+ frames, /);
    const gif = readFileSync(join(folder, 'a.gif'));
    expect(gif.toString('latin1', 0, 6)).toBe('GIF89a');
    expect([gif.readUInt16LE(6), gif.readUInt16LE(8)]).toEqual([64, 48]);
    expect(gif.at(-1)).toBe(0x3b);
  });

  it('writes the pictures where there is no motion, or where they are asked for', async () => {
    expect((await video('pictures.gif', '--pictures')).out).toMatch(/^pictures\.gif: 5 frames, 1\.0 s/);
  });

  it('says why there is none, and leaves no file', async () => {
    const refused = async (words: string[], said: RegExp) => {
      const { code, err } = await cli(folder, ['replay', ...words]);
      expect([code, err]).toEqual([2, expect.stringMatching(said)]);
    };
    await refused([bare, EPISODES[0], '--video', 'none.mp4'], /neither a motion nor a picture was recorded/);
    await refused(['staged', EPISODES[0], '--video', 'none.webm'], /videos are written as \.mp4 or \.gif/);
    await refused(['staged', EPISODES[0], '--video', 'no/none.mp4'], /there is no folder/);
    await refused(['staged', EPISODES[0], '--video', 'none.mp4', '--size', '9'], /WIDTHxHEIGHT/);
    await refused(['staged', EPISODES[0], '--video', 'none.mp4', '--fps', '900'], /rate is 900/);
    await refused(['staged', EPISODES[0], '--video', 'none.mp4', '--camera', 'moon'], /room, agent, side, wrist/);
    expect(readdirSync(folder).filter((name) => name.startsWith('none'))).toEqual([]);
  });

  it('leaves no half of a file when it is interrupted', async () => {
    const words = ['replay', 'staged', EPISODES[0], '--video', 'half.mp4', '--size', '1280x960', '--speed', '0.1'];
    const running = startCli(folder, words);
    await new Promise((done) => running.child.stderr?.once('data', done));
    const { code, err } = await running.end('SIGINT');
    expect([code, err]).toEqual([130, expect.stringContaining('half.mp4 was not written')]);
    expect(readdirSync(folder).filter((name) => name.startsWith('half'))).toEqual([]);
  });
});

const PSEUDO = spawnSync('script', ['--version']).status === 0;

/** Needs the program `script` (util-linux), which gives a command a terminal. */
describe.skipIf(!PSEUDO)('replay on a terminal', () => {
  /** Types each text once what comes before it was shown. */
  function typed(steps: [shown: string, keys: string][], words: string[], env: Record<string, string> = {}) {
    const quoted = [process.execPath, bundlePath('cli'), 'replay', ...words].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['-qec', `stty rows 24 cols 80; ${quoted}; echo "code $?"`, '/dev/null'], {
      cwd: folder,
      env: { ...process.env, TERM: 'xterm-256color', npm_command: '', ...env },
    });
    let out = '';
    let seen = 0;
    const left = [...steps];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      while (left.length > 0 && out.indexOf(left[0][0], seen) >= 0) {
        seen = out.length;
        child.stdin.write(left.shift()?.[1] ?? '');
      }
    });
    return new Promise<string>((done) => child.once('close', () => done(out)));
  }
  const ENTER = '\u001b[?1049h';
  const LEAVE = '\u001b[?25h\u001b[?1049l';

  it('picks an episode from the list, steps, and gives the terminal back', async () => {
    const out = await typed(
      [
        ['3 episodes', '\r'],
        ['call 1 of 5', '\u001b[C'],
        ['call 2 of 5', 'q'],
      ],
      ['staged'],
    );
    expect(out).toContain(ENTER);
    expect(out.lastIndexOf(LEAVE)).toBeGreaterThan(out.lastIndexOf('call 2 of 5'));
    expect(out).toMatch(/code 0\s*$/);
  });

  it('gives it back at Ctrl-C', async () => {
    const out = await typed([['call 1 of 5', '\u0003']], ['staged', EPISODES[0]], { NO_COLOR: '1' });
    expect(out.slice(out.lastIndexOf('call 1'))).toContain(LEAVE);
    expect(out).toMatch(/code 130\s*$/);
    expect(out).not.toContain('\u001b[1m');
  });

  it('prints where the terminal can do nothing else', async () => {
    const out = await typed([], ['staged', EPISODES[0]], { TERM: 'dumb' });
    expect(out).not.toContain(ENTER);
    expect(out).toContain('outcome · reward 1');
    expect(existsSync(join(folder, 'typescript'))).toBe(false);
  });
});
