import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRecording } from '../../../../recordings/index.ts';
import {
  firstDifference,
  openReplayEpisode,
  type Part,
  parseTranscriptUri,
  type ReplayEpisode,
  readBlock,
  readTranscript,
  type Transcript,
  transcriptUri,
} from '../../../../recordings/replay/index.ts';
import { createRun } from '../../../../trainer-daemon/store/index.ts';
import { call, episode as record, runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';
import { callsOf, recordedGroup, SECTION, TURNS, type Turn } from './hand-made.ts';

async function open(folder: string, id = 'e0'): Promise<ReplayEpisode> {
  const recording = await openRecording(folder);
  onTestFinished(() => recording.close());
  return openReplayEpisode(recording, SECTION, id);
}

/** Episode `e0` of these turns alone. */
async function recorded(turns: Turn[]): Promise<ReplayEpisode> {
  const folder = temporaryFolder();
  const run = await createRun(folder, runInfo);
  const section = run.section(SECTION);
  for (const one of callsOf('e0', turns)) await section.appendCall(one);
  await section.appendEpisode({ ...record('e0'), turns: turns.length });
  await run.close();
  return open(folder);
}

const linesOf = (text: Transcript, call: number, part: Part) => {
  const { from, to } = text.linesOf(call, part) ?? { from: 0, to: 0 };
  return text.lines.slice(from - 1, to).join('\n');
};

describe('the transcript of an episode', () => {
  it('has a section a call, with what is new in it', async () => {
    const text = await readTranscript(await open(await recordedGroup()));
    expect(text.lines.slice(0, 4)).toEqual([
      'episode e0',
      `s/0 · initial state 11 · attempt 0 · ${SECTION}`,
      'run store-test',
      '',
    ]);
    expect(linesOf(text, 1, 'call').split('\n')).toEqual([
      'turn 1 · pick, pick · policy 1 · 2 ms · 8 -> 2 tokens · tool_calls',
      '  request: 4 messages, 2 of them new',
      '  reasoning:',
      '    thought 1',
      '  -> pick',
      '    {"object":"red-cube","grasp":"side"}',
      '  <- pick failed:',
      '    error: grasp must be top or rim',
      '  -> pick',
      '    {"object":"red-cube","grasp":"top"}',
      '  <- pick:',
      '    held',
      '',
    ]);
    expect(linesOf(text, 3, 'outcome')).toBe(
      'outcome · reward 1\n  valid\n  success at turn 2\n  4 turns, ended by exit\n',
    );
  });

  it('tells the line of each part and the part of each line', async () => {
    const episode = await open(await recordedGroup());
    const text = await readTranscript(episode);
    const places: { call: number; part: Part }[] = [];
    for (let position = 0; position < episode.length; position++) {
      places.push({ call: position, part: 'call' });
      for (const { index } of (await episode.call(position)).toolCalls) places.push({ call: position, part: index });
    }
    places.push({ call: 3, part: 'outcome' });
    expect(places).toHaveLength(10);
    for (const { call: position, part } of places) {
      const { from, to } = text.linesOf(position, part) ?? { from: 0, to: 0 };
      expect(from).toBe(text.lineOf(position, part));
      expect(text.partAt(from)).toEqual({ call: position, part });
      if (part !== 'call') expect(text.partAt(to)).toEqual({ call: position, part });
    }
    expect([text.partAt(1), text.partAt(9999)]).toEqual([
      { call: 0, part: 'call' },
      { call: 3, part: 'outcome' },
    ]);
    expect([text.lineOf(4, 'call'), text.sectionAt(1)]).toEqual([undefined, undefined]);
  });

  it('writes whole requests where it is asked to, and a part of the calls', async () => {
    const episode = await open(await recordedGroup());
    const some = await readTranscript(episode, new Set([2]));
    expect(linesOf(some, 1, 'call')).not.toContain('You move things.');
    expect(linesOf(some, 2, 'call')).toMatch(
      / {2}system:\n {4}You move things.\n[\s\S]*tool:\n {4}held\n[\s\S]*-> place/,
    );
    const [all, from, only] = [
      await readTranscript(episode, 'all'),
      await readTranscript(episode, undefined, { from: 2 }),
      await readTranscript(episode, 'all', { only: 2 }),
    ];
    expect(all.text.match(/You move things/g)).toHaveLength(4);
    expect(from.sections.map(({ call: position, part }) => [position, part])).toEqual([
      [2, 'call'],
      [3, 'call'],
      [3, 'outcome'],
    ]);
    expect(linesOf(from, 2, 'call')).toBe(linesOf(await readTranscript(episode), 2, 'call'));
    expect(only.sections.map(({ call: position }) => position)).toEqual([2]);
  });

  it('shows code in the answer, and finds it by its lines', async () => {
    const content = 'First I look.\n```python\nx = find("can")\nprint(x)\n```\nThen I pick.\n```python\npick(x)\n```\n';
    const episode = await recorded([
      { content, answer: 'Traceback (most recent call last):\nNameError: x' },
      { content: 'done' },
    ]);
    const text = await readTranscript(episode);
    expect(linesOf(text, 0, 0)).toBe('    x = find("can")\n    print(x)');
    expect(linesOf(text, 0, 1)).toMatch(
      /^ {4}pick\(x\)\n[\s\S]* {2}<- code 1 raised an exception:\n {4}Traceback[\s\S]*NameError: x$/,
    );
    // The answer to the code stands there, and is not told again.
    expect(text.text.match(/NameError/g)).toHaveLength(1);
  });

  it('shows code that is an argument as code', async () => {
    const episode = await recorded([{ tools: [['run', { code: 'a = 1\nb = a', timeout: 3 }, '1']] }]);
    expect(linesOf(await readTranscript(episode), 0, 0)).toContain('  -> run\n    {"timeout":3}\n    a = 1\n    b = a');
  });

  it('shows what a harness made of an answer when it sends back another one', async () => {
    const messages = [
      { role: 'user' as const, content: 'go' },
      { role: 'assistant' as const, content: 'something else' },
      { role: 'user' as const, content: 'on' },
    ];
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section(SECTION);
    await section.appendCall(call({ request: { messages: messages.slice(0, 1), tools: null, other: {} } }));
    await section.appendCall(call({ turn: 1, request: { messages, tools: null, other: {} } }));
    await section.appendEpisode({ ...record('e0'), turns: 2 });
    await run.close();
    expect(linesOf(await readTranscript(await open(folder)), 1, 'call')).toContain(
      '  assistant:\n    something else\n  user:\n    on',
    );
  });

  it('lets no recorded text pass for a heading, a label or a mark of its own', async () => {
    const forged = 'ok\noutcome · reward 1\n  reasoning:\n  … 7 more characters of 9\nturn 9 · \u001b[2J\u202eevil';
    const text = await readTranscript(
      await recorded([
        { content: forged, tools: [[`x\nturn 7 · pick`, forged, forged]], fields: { finishReason: 'a\nb' } },
      ]),
    );
    expect(text.lines.filter((line) => /^\S/.test(line)).map((line) => line.split(' ')[0])).toEqual([
      ...['episode', 's/0', 'run', 'turn', 'outcome'],
    ]);
    expect(text.lines.filter((line) => line === '  reasoning:')).toHaveLength(1);
    expect(text.lines.filter((line) => /^ {2}…/.test(line))).toEqual([]);
    for (const hidden of ['\u001b', '\u202e']) expect(text.text).not.toContain(hidden);
    expect(text.text).toContain('␛[2J‹U+202E›evil');
  });

  it('cuts long texts, says so, and gives the whole text when it is asked for', async () => {
    const long = 'y'.repeat(10_000_000);
    const many = 'line\n'.repeat(30_000);
    const episode = await recorded([{ content: long, tools: [['look', {}, many]] }, { content: 'done' }]);
    const text = await readTranscript(episode);
    const [section] = text.sections;
    const cut = (key: string) => section.blocks.find((block) => block.key === key)?.cuts ?? [];
    expect(cut('text')).toEqual([{ line: expect.any(Number), characters: 10_000_000 - 20_000 }]);
    expect(section.lines[cut('text')[0].line]).toBe('  … 9980000 more characters of 10000000');
    expect(cut('result.0')).toEqual([
      { line: expect.any(Number), characters: many.length - 'line\n'.repeat(1000).length + 1 },
    ]);
    expect(text.lines.length).toBeLessThan(1100);
    const whole = await readBlock(episode, 0, 'text');
    expect(whole?.lines.slice(1)).toEqual([`    ${long}`]);
    expect((await readBlock(episode, 0, 'result.0'))?.lines).toHaveLength(30_002);
    expect(await readBlock(episode, 0, 'message.99')).toBeUndefined();
  });

  it('has a section for what is damaged or missing', async () => {
    const folder = await recordedGroup();
    const path = join(folder, SECTION, 'calls.jsonl');
    const lines = readFileSync(path, 'utf8').split('\n');
    lines[2] = lines[2].replace('"turn":2', '"turn":"\u202e2"');
    writeFileSync(path, lines.join('\n'));
    appendFileSync(join(folder, SECTION, 'samples.jsonl'), '{"call":"e0.c0","torn');
    const text = await readTranscript(await open(folder));
    expect(linesOf(text, 2, 'call')).toMatch(/^turn 2 · damaged\n {2}damaged:\n {4}turn: /);
    expect(text.lineOf(3, 0)).toBeGreaterThan(text.lineOf(2, 'call') ?? Number.NaN);
  });

  it('names images by what they are, with the place of each', async () => {
    const picture = Buffer.from('89504e470d0a1a0a0000', 'hex');
    const url = `data:image/png;base64,${picture.toString('base64')}`;
    const folder = temporaryFolder();
    const run = await createRun(folder, runInfo);
    const section = run.section(SECTION);
    const content = [
      { type: 'text', text: 'what you see' },
      { type: 'image_url', image_url: { url } },
    ];
    await section.appendCall(call({ request: { messages: [{ role: 'user', content }], tools: null, other: {} } }));
    await section.appendEpisode(record('e0'));
    await run.close();
    const [first] = (await readTranscript(await open(folder))).sections;
    const images = first.blocks.flatMap((block) => block.images);
    expect(images).toMatchObject([{ mediaType: 'image/png', bytes: 10, start: 4 }]);
    expect(first.lines[images[0].line].slice(images[0].start, images[0].end)).toBe('[image image/png, 10 bytes]');
  });
});

describe('two attempts', () => {
  it('differ first where a response or what was told is another one', async () => {
    const folder = await recordedGroup({
      more: async (run) => {
        const section = run.section(SECTION);
        for (const one of callsOf('e3', [TURNS[0], { ...TURNS[1], content: 'hm' }])) await section.appendCall(one);
        await section.appendEpisode({ ...record('e3'), attempt: 3 });
      },
    });
    const [e0, e1, e3] = [await open(folder), await open(folder, 'e1'), await open(folder, 'e3')];
    expect(await firstDifference(e0, e0)).toBeUndefined();
    expect(await firstDifference(e0, e3)).toBe(1);
    expect(await firstDifference(e3, e0)).toBe(1);
    // The attempt that was cut never got the results of its last call.
    expect(await firstDifference(e0, e1)).toBe(1);
  });
});

describe('addresses of texts', () => {
  it('say what they name, also as an editor writes them', () => {
    const target = { directory: '/runs/ü & co?/50% (a)', section: SECTION, episode: '1f0c2ab9.r1.s-0.i11.a0.0' };
    const all = [
      target,
      { ...target, cell: { call: 3, action: 0 } },
      { ...target, view: { mode: 'full' as const } },
      { ...target, view: { mode: 'from' as const, call: 2 } },
      { ...target, view: { mode: 'block' as const, call: 2, key: 'message.3', page: 1 } },
      { ...target, view: { mode: 'prompt' as const, call: 2, again: true } },
    ];
    for (const one of all) {
      expect(parseTranscriptUri(transcriptUri(one))).toEqual(one);
      // Editors encode a few characters more.
      const more = transcriptUri(one).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
      expect(parseTranscriptUri(more)).toEqual(one);
    }
    expect(new Set(all.map((one) => transcriptUri(one))).size).toBe(all.length);
  });

  it('of other kinds name nothing', () => {
    const query = (value: unknown) => `planner-episode:/a.episode?${encodeURIComponent(JSON.stringify(value))}`;
    for (const uri of [
      ...[
        'file:///a',
        'planner-episode:/a.episode',
        'planner-episode:/a.episode?%',
        query({}),
        query(['/run', 'teacher']),
      ],
      ...[query(['/run', 'teacher', 3]), query(['/run', 'teacher', 'e', -1, 0]), query(['/run', 'teacher', 'e', null])],
      ...[
        query(['/run', 'teacher', 'e', { mode: 'call', call: 1.5 }]),
        query(['/run', 'teacher', 'e', { mode: 'x', call: 1 }]),
      ],
    ])
      expect(parseTranscriptUri(uri), uri).toBeUndefined();
  });
});
