/** The host's side of a stage, over a real replay of a recorded group. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ReplaySession } from '../../../../../extension/replay/session.ts';
import { StageConversation } from '../../../../../extension/replay/stage/conversation.ts';
import type { StageEpisode } from '../../../../../extension/replay/stage/data.ts';
import { readRestore, type ToPage, toPageSchema } from '../../../../../extension/replay/stage/messages.ts';
import { SessionSource } from '../../../../../extension/replay/stage/session-source.ts';
import { stageWords } from '../../../../../extension/replay/stage/wording.ts';
import { motionOf } from '../../../../../media/stage/motion.ts';
import type { CallRecord, SampleRecord } from '../../../../../protocol/records.ts';
import { EPISODES, SECTION, stagedRun } from '../../../../integration/staged-run.ts';
import { linesOf, temporaryFolder } from '../../../trainer-daemon/store/runs.ts';

/** @param change of the files of the run, before it is opened. */
async function opened(change: (directory: string) => void = () => {}) {
  const directory = temporaryFolder();
  const solved = await stagedRun(directory);
  change(directory);
  const log: string[] = [];
  const session = await ReplaySession.open({ directory, section: SECTION, episode: EPISODES[0] }, (text) =>
    log.push(text),
  );
  onTestFinished(() => session.close());
  const posted: ToPage[] = [];
  const conversation = new StageConversation(new SessionSource(session), stageWords({ t: (text) => text }), {
    post: (message) => posted.push(message),
    log: (text) => log.push(text),
  });
  onTestFinished(() => conversation.dispose());
  const last = <T extends ToPage['type']>(type: T) =>
    posted.findLast((one) => one.type === type) as Extract<ToPage, { type: T }>;
  return { directory, solved, session, conversation, posted, last, log };
}

describe('the conversation with a stage', () => {
  let words: Record<string, string>;
  beforeAll(() => {
    words = stageWords({ t: (text) => text });
  });

  it('tells the episode as it was recorded', async () => {
    const { directory, solved, conversation, posted, last } = await opened();
    expect(solved).toEqual([true, false, false]);
    await conversation.hear({ type: 'ready' });
    // What is sent is what the page accepts, and it survives the way there.
    for (const one of posted) expect(toPageSchema.parse(JSON.parse(JSON.stringify(one)))).toEqual(one);
    const { episode, position, restore } = last('snapshot');
    expect(last('snapshot').words).toEqual(words);
    expect(position).toEqual({ call: 0, part: 'call' });
    expect(readRestore(restore)).toEqual({ directory, section: SECTION, episode: EPISODES[0], position });
    const recorded = linesOf(directory, SECTION, 'calls.jsonl') as unknown as CallRecord[];
    const samples = linesOf(directory, SECTION, 'samples.jsonl') as unknown as SampleRecord[];
    const own = recorded.filter((call) => call.episode === EPISODES[0]);
    expect(episode.calls).toHaveLength(own.length);
    own.forEach((call, at) => {
      const shown = episode.calls[at];
      const sample = samples.find((one) => one.call === call.id);
      expect([shown.advantage, shown.sample]).toEqual([sample?.advantage, sample?.status]);
      expect(shown.latency).toBe(call.durations.total / 1000);
      expect(shown.responseTokens).toBe(call.responseTokenIds?.length);
      expect(shown.tools.map(({ name }) => name)).toEqual(call.response?.toolCalls.map((tool) => tool.function.name));
    });
    const { spans } = JSON.parse(
      readFileSync(join(directory, SECTION, 'output', EPISODES[0], 'trajectory.json'), 'utf8'),
    );
    const intervals = episode.calls.map(({ interval }) => interval);
    expect(intervals).toEqual([
      ...spans.map(({ start, end }: { start: number; end: number }) => ({ start, end })),
      null, // finish
    ]);
    expect(episode.calls[2].tools[0].held).toBe('black_bowl');
    expect(episode.group.map(({ reward, valid }) => [reward, valid])).toEqual([
      [1, true],
      [0, true],
      [0, false],
    ]);
    // The picture came with the call after the look; nothing moved in between, so its boxes are those of the detection.
    expect(episode.calls.map(({ images }) => images.length)).toEqual([0, 0, 1, 0, 0]);
    const [image] = episode.calls[2].images;
    const seen = episode.calls[0].tools[0].detections?.filter(({ camera }) => camera === 'wrist');
    expect(image.detections).toEqual(seen);
    expect(seen?.length).toBeGreaterThan(2);
  });

  it('shows unseen characters of the recording as marks', async () => {
    const { conversation, posted, last } = await opened((directory) => {
      const change = (file: string, from: string, to: string) => {
        const place = join(directory, SECTION, file);
        const text = readFileSync(place, 'utf8');
        expect(text).toContain(from);
        writeFileSync(place, text.replaceAll(from, JSON.stringify(to).slice(1, -1)));
      };
      change('calls.jsonl', 'I look first.', `look \u202e\u001b[31m${'\u2066'.repeat(9000)}`);
      change('calls.jsonl', 'pick', 'pick\u202e');
      change('episodes.jsonl', 'tabletop_goal_swap/2', 'tabletop_goal_swap/2\u202e');
      change(`output/${EPISODES[0]}/trajectory.json`, 'black_bowl', `black${'\u202e'.repeat(100)}`);
    });
    await conversation.hear({ type: 'ready' });
    await conversation.hear({ type: 'scene', episode: EPISODES[0] });
    for (const one of posted) expect(toPageSchema.parse(JSON.parse(JSON.stringify(one)))).toEqual(one);
    expect(JSON.stringify(posted)).not.toMatch(/[\u202e\u2066]|\\u001b/);
    const { episode } = last('snapshot');
    expect(episode.task).toMatch(/‹U\+202E›$/);
    expect(episode.calls[0].reasoning).toMatch(/^look ‹U\+202E›␛\[31m‹U\+2066›.*…$/);
    const { scene } = last('scene');
    const bowl = scene?.bodies.find((body) => body.startsWith('black'));
    expect(bowl).toMatch(/^black(‹U\+202E›)+.*…$/);
    // The body is still known as the one that is held.
    expect(scene?.held.map(({ body }) => body)).toContain(bowl);
    expect(episode.calls[2].tools[0]).toMatchObject({ name: 'pick‹U+202E›', held: bowl });
  });

  it('gives scenes and pictures when they are asked for', async () => {
    const { directory, conversation, last } = await opened();
    await conversation.hear({ type: 'ready' });
    for (const id of EPISODES.slice(0, 2)) {
      await conversation.hear({ type: 'scene', episode: id });
      const { scene, problem } = last('scene');
      expect(problem).toBeNull();
      if (!scene) throw new Error('no scene');
      const { frames, bodies } = JSON.parse(
        readFileSync(join(directory, SECTION, 'output', id, 'trajectory.json'), 'utf8'),
      );
      const { track } = motionOf(scene, '');
      expect([track.frames, track.bodies]).toEqual([frames, bodies.length]);
      expect(() => motionOf({ ...scene, frames: frames + 1 }, '')).toThrow(/bytes of poses/);
    }
    const { episode } = last('snapshot');
    const [{ sha }] = episode.calls[2].images;
    await conversation.hear({ type: 'image', sha });
    const { base64, mediaType } = last('image');
    expect(mediaType).toBe('image/png');
    expect(
      Buffer.from(base64 ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    await conversation.hear({ type: 'image', sha: 'a'.repeat(64) });
    expect(last('image').problem).toMatch(/not among the run's blobs/);
    await conversation.hear({ type: 'scene', episode: 'nobody' });
    expect(last('scene').problem).toMatch(/holds no episode/);
  });

  it('moves the one cursor, and tells every move', async () => {
    const { session, conversation, posted, last, log } = await opened();
    await conversation.hear({ type: 'ready' });
    const goto = (call: number, part: unknown = 'call', episode = EPISODES[0]) =>
      conversation.hear({ type: 'goto', episode, position: { call, part } });
    await goto(2, 0);
    expect(session.cursor.position).toEqual({ thread: 0, call: 2, part: 0 });
    await expect.poll(() => last('position')?.position).toEqual({ call: 2, part: 0 });
    await session.cursor.stepForward();
    await expect.poll(() => last('position').position).toEqual({ call: 3, part: 'call' });

    // Into another attempt: the page is told everything of it. What it still asked of the old one is not done.
    await conversation.hear({ type: 'attempt', episode: EPISODES[2] });
    await expect.poll(() => (last('snapshot').episode satisfies StageEpisode).id).toBe(EPISODES[2]);
    expect(session.cursor.position).toEqual({ thread: 1, call: 0, part: 'call' });
    await goto(1);
    expect(session.episode.id).toBe(EPISODES[2]);

    // A position that is not there is refused, and the page is told where it stands.
    const before = posted.length;
    await goto(7, 'call', EPISODES[2]);
    await expect.poll(() => posted.slice(before).map(({ type }) => type)).toEqual(['refused', 'position']);
    expect(last('refused').message).toMatch(/there is no call 7/);
    await conversation.hear({ type: 'goto', position: 3 });
    await conversation.hear('hello');
    expect(log.filter((text) => text.includes('no message'))).toHaveLength(2);

    // Hidden, it is told nothing; back again, everything.
    conversation.gone();
    const quiet = posted.length;
    await session.cursor.goto({ thread: 0, call: 1, part: 'call' });
    expect(posted).toHaveLength(quiet);
    await conversation.hear({ type: 'ready' });
    expect(last('snapshot').episode.id).toBe(EPISODES[0]);
    expect(last('snapshot').position).toEqual({ call: 1, part: 'call' });
  });
});
