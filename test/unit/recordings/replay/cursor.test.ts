import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CursorThread, EpisodeCursor, type Position, type Rest } from '../../../../recordings/replay/index.ts';

/** An episode whose calls have so many parts. */
function thread(parts: number[], ended = true, id = 0): CursorThread & { counts: number[]; ended: boolean } {
  return {
    id,
    counts: parts,
    ended,
    get calls() {
      return this.counts.length;
    },
    async parts(call) {
      return this.counts[call];
    },
  };
}
const words = ({ call, part }: Position) => `${call}${part === 'call' ? '' : part === 'outcome' ? '!' : `.${part}`}`;
const never = () => undefined;

async function walk(cursor: EpisodeCursor, step: () => Promise<Rest>): Promise<string[]> {
  const seen = [words(cursor.position)];
  for (;;) {
    const { reason } = await step();
    if (reason !== 'step') return [...seen, reason];
    seen.push(words(cursor.position));
  }
}

describe('a cursor in an episode', () => {
  it('steps over calls, forwards and back, and says where it ends', async () => {
    const cursor = new EpisodeCursor(thread([1, 2, 0]));
    expect(await walk(cursor, () => cursor.stepForward())).toEqual(['0', '1', '2', '2!', 'end']);
    expect(await walk(cursor, () => cursor.stepBack())).toEqual(['2!', '2', '1', '0', 'start']);
  });

  it('steps into tool calls and out of them', async () => {
    const cursor = new EpisodeCursor(thread([1, 2, 0]));
    const all = ['0', '0.0', '1', '1.0', '1.1', '2', '2!'];
    expect(await walk(cursor, () => cursor.stepIn())).toEqual([...all, 'end']);
    expect(await walk(cursor, () => cursor.stepInBack())).toEqual([...all.toReversed(), 'start']);
    await cursor.goto({ thread: 0, call: 1, part: 0 });
    await cursor.stepForward();
    expect(words(cursor.position)).toBe('1.1');
    await cursor.stepBack();
    await cursor.stepBack();
    expect(words(cursor.position)).toBe('1');
    await cursor.goto({ thread: 0, call: 1, part: 0 });
    await cursor.stepOut();
    expect(words(cursor.position)).toBe('2');
    expect(await cursor.stepOut()).toEqual({ reason: 'step' });
    expect([words(cursor.position), (await cursor.stepOut()).reason]).toEqual(['2!', 'end']);
  });

  it('passes the same positions forwards and back, whatever the episode', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 8 }), async (parts) => {
        const cursor = new EpisodeCursor(thread(parts));
        const passed: Record<string, string[]> = { forward: [words(cursor.position)], back: [] };
        const note = (at: Position, direction: 'forward' | 'back') => void passed[direction].push(words(at));
        expect(await cursor.continue(note)).toEqual({ reason: 'end' });
        passed.back.push(words(cursor.position));
        expect(await cursor.reverseContinue(note)).toEqual({ reason: 'start' });
        expect(passed.back.toReversed()).toEqual(passed.forward);
        expect(passed.forward.length).toBe(Math.max(1, parts.length) + parts.reduce((a, b) => a + b, 0) + 1);
      }),
    );
  });

  it('stops where it is told to, in both directions, at the same places', async () => {
    const cursor = new EpisodeCursor(thread([1, 2, 1, 0]));
    const at = async ({ call, part }: Position) =>
      (call === 1 && part === 1) || (call === 2 && part === 'call') ? { kind: 'here', call } : undefined;
    const stops: string[] = [];
    while ((await cursor.continue(at)).reason === 'stop') stops.push(words(cursor.position));
    while ((await cursor.reverseContinue(at)).reason === 'stop') stops.push(words(cursor.position));
    expect(stops).toEqual(['1.1', '2', '2', '1.1']);
    expect(words(cursor.position)).toBe('0');
    expect(await cursor.continue(at)).toEqual({ reason: 'stop', hit: { kind: 'here', call: 1 }, direction: 'forward' });
  });

  it('is paused on its way, and a goto ends a continue', async () => {
    const cursor = new EpisodeCursor(thread(Array(1000).fill(0)));
    const slow = async ({ call }: Position) => {
      if (call === 5) cursor.pause();
      return undefined;
    };
    expect(await cursor.continue(slow)).toEqual({ reason: 'pause' });
    expect(words(cursor.position)).toBe('5');
    let asked = 0;
    const going = cursor.continue(async () => {
      if (++asked === 3) void cursor.goto({ thread: 0, call: 900, part: 'call' });
      return undefined;
    });
    expect(await going).toEqual({ reason: 'pause' });
    await cursor.stepForward();
    expect([words(cursor.position), asked]).toEqual(['901', 3]);
  });

  it('goes on after a condition that fails, where it was', async () => {
    const cursor = new EpisodeCursor(thread([0, 0]));
    const failing = () => Promise.reject(new Error('no such field'));
    await expect(cursor.continue(failing)).rejects.toThrow('no such field');
    expect([words(cursor.position), (await cursor.stepForward()).reason]).toEqual(['0', 'step']);
  });

  it('refuses positions that are not there', async () => {
    const cursor = new EpisodeCursor(thread([1, 0], false));
    for (const [call, part, said] of [
      [2, 'call', 'there is no call 2: the episode has 2'],
      [-1, 'call', 'no call -1'],
      [0.5, 'call', 'no call 0.5'],
      [0, 1, 'call 0 has 1 tool calls, there is no tool call 1'],
      [1, 'outcome', 'no outcome yet'],
    ] as const) {
      await expect(cursor.goto({ thread: 0, call, part })).rejects.toThrow(said);
    }
    await expect(cursor.goto({ thread: 3, call: 0, part: 'call' })).rejects.toThrow('there is no thread 3');
    await expect(cursor.stepForward(7)).rejects.toThrow('there is no thread 7');
    const done = new EpisodeCursor(thread([0, 0]));
    await expect(done.goto({ thread: 0, call: 0, part: 'outcome' })).rejects.toThrow('after the last call');
  });

  it('keeps a place in each thread', async () => {
    const cursor = new EpisodeCursor(thread([0, 0]));
    cursor.addThread(thread([0, 0, 0], true, 1));
    await cursor.stepForward();
    await cursor.stepForward(1);
    await cursor.stepForward(1);
    expect(cursor.position).toEqual({ thread: 1, call: 2, part: 'call' });
    expect([cursor.threadIds, words(cursor.positionOf(0))]).toEqual([[0, 1], '1']);
    await cursor.restart(0);
    expect(cursor.position).toEqual({ thread: 0, call: 0, part: 'call' });
    expect(words(cursor.positionOf(1))).toBe('2');
  });

  it('tells each move, also where nothing lies further', async () => {
    const cursor = new EpisodeCursor(thread([0]));
    const moves: string[] = [];
    const end = cursor.onMove(({ from, to, rest }) => moves.push(`${words(from)} ${words(to)} ${rest.reason}`));
    await cursor.stepBack();
    await cursor.toEnd();
    end();
    await cursor.stepBack();
    expect(moves).toEqual(['0 0 start', '0 0! goto']);
  });
});

describe('an episode that is being written', () => {
  it('is followed until somebody steps back, and again from its newest call', async () => {
    const growing = thread([0, 1], false);
    const cursor = new EpisodeCursor(growing);
    expect([words(cursor.position), cursor.following]).toEqual(['1', true]);
    growing.counts.push(0);
    expect(await cursor.grown()).toEqual({ reason: 'follow' });
    expect([words(cursor.position), await cursor.grown()]).toEqual(['2', undefined]);

    await cursor.stepBack();
    growing.counts.push(0);
    expect([await cursor.grown(), words(cursor.position), cursor.following]).toEqual([undefined, '1', false]);

    expect((await cursor.continue(never)).reason).toBe('end');
    expect([words(cursor.position), cursor.following]).toEqual(['3', true]);
    growing.counts.push(0);
    growing.ended = true;
    await cursor.grown();
    expect([words(cursor.position), cursor.following]).toEqual(['4!', false]);
  });

  it('has a first call once there is one', async () => {
    const growing = thread([], false);
    const cursor = new EpisodeCursor(growing);
    expect([words(cursor.position), (await cursor.stepForward()).reason]).toEqual(['0', 'end']);
    await cursor.toEnd();
    growing.counts.push(2, 0);
    await cursor.grown();
    expect(words(cursor.position)).toBe('1');
  });

  it('without a call that has ended shows its outcome', async () => {
    const cursor = new EpisodeCursor(thread([]));
    expect([(await cursor.stepIn()).reason, words(cursor.position)]).toEqual(['step', '0!']);
    expect([(await cursor.stepInBack()).reason, (await cursor.stepBack()).reason]).toEqual(['step', 'start']);
  });
});
