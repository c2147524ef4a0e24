/** The page and the host's cursor agree in the end, however their messages cross. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StagePosition } from '../../../../../extension/replay/stage/data.ts';
import { MOMENT, Timeline } from '../../../../../extension/replay/stage/timeline.ts';
import { Place } from '../../../../../media/stage/place.ts';

const at = (call: number): StagePosition => ({ call, part: 'call' });

describe('the place of a page', () => {
  it('is ahead of the answers to what it asked for, and where the last one leads', () => {
    const place = new Place(at(0));
    expect([1, 2, 3].map((call) => place.ask(at(call)))).toEqual([true, true, true]);
    expect(place.ask(at(3))).toBe(false);
    expect(place.told(at(1))).toBe(false);
    expect(place.told(at(2))).toBe(false);
    expect(place.position).toEqual(at(3));
    expect(place.told(at(3))).toBe(false);
    // Somebody else steps.
    expect(place.told({ call: 3, part: 0 })).toBe(true);
    expect(place.position).toEqual({ call: 3, part: 0 });
    place.ask(at(5));
    place.forget();
    expect(place.told(at(2))).toBe(true);
  });

  it("never drifts from the host's", () => {
    // Moves of the page and of others in any order; the host tells each one, in order, at any later time.
    const move = fc.record({ by: fc.constantFrom('page', 'host', 'deliver'), call: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const place = new Place(at(0));
        let host = at(0);
        const toHost: StagePosition[] = [];
        const toPage: StagePosition[] = [];
        const settle = () => {
          const asked = toHost.shift();
          if (asked) {
            host = asked;
            toPage.push(asked);
          }
          const told = toPage.shift();
          if (told) place.told(told);
        };
        for (const { by, call } of moves) {
          if (by === 'page') {
            if (place.ask(at(call))) toHost.push(at(call));
          } else if (by === 'host') {
            host = at(call);
            toPage.push(host);
          } else settle();
        }
        while (toHost.length + toPage.length > 0) settle();
        expect(place.position).toEqual(host);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the time of a stage', () => {
  const call = (start: number, end: number, ends: number[] = [end]) => ({
    interval: { start, end },
    tools: ends.map((one) => ({
      ...{ name: 't', arguments: '', result: null, failed: false, detections: null },
      interval: { start, end: one },
    })),
  });
  const timeline = new Timeline([call(0, 0), call(0, 2, [0.5, 2]), { interval: null, tools: [] }, call(2, 2.1)]);

  it('passes nothing unseen, and shows the world as it was', () => {
    expect(timeline.segments.map(({ from, to }) => [from, to])).toEqual([
      [0, MOMENT],
      [MOMENT, MOMENT + 2],
      [MOMENT + 2, 2 * MOMENT + 2],
      [2 * MOMENT + 2, 3 * MOMENT + 2],
    ]);
    expect(timeline.at(0.1)).toEqual({ call: 0, world: 0 });
    expect(timeline.at(MOMENT + 0.5)).toEqual({ call: 1, world: 0.5 });
    // A call that recorded no time leaves the world where the one before it left it.
    expect(timeline.at(MOMENT + 2.1)).toEqual({ call: 2, world: 2 });
    expect(timeline.at(99)).toEqual({ call: 3, world: 2.1 });
    expect(timeline.at(-1)).toEqual({ call: 0, world: 0 });
    expect(new Timeline([]).at(3)).toEqual({ call: 0, world: 0 });
  });

  it('has a place for every position', () => {
    const world = (position: StagePosition) => timeline.worldAt(position.call, timeline.timeOf(position));
    expect(world({ call: 1, part: 'call' })).toBe(0);
    expect(world({ call: 1, part: 0 })).toBe(0.5);
    expect(world({ call: 1, part: 1 })).toBe(2);
    expect(world({ call: 3, part: 'outcome' })).toBe(2.1);
    expect(timeline.timeOf({ call: 9, part: 'call' })).toBe(timeline.length);
    expect([timeline.neighbour(0, -1), timeline.neighbour(0, 1), timeline.neighbour(3, 1)]).toEqual([0, 1, 3]);
  });
});
