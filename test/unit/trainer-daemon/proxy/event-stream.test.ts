import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStreamReader, formatEvent } from '../../../../trainer-daemon/proxy/event-stream.ts';

function read(text: string, cuts: number[] = []): string[] {
  const bytes = new TextEncoder().encode(text);
  const reader = new EventStreamReader();
  const points = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return points.slice(1).flatMap((end, i) => reader.push(bytes.subarray(points[i], end)));
}

describe('event stream', () => {
  it('knows all line ends, comments and data of several lines', () => {
    expect(read('data: a\n\ndata:b\r\n\r\n: ping\n\nevent: x\ndata: c\rdata: d\r\r')).toEqual(['a', 'b', 'c\nd']);
  });

  it('keeps an unfinished event back', () => {
    expect(read('data: a\n\ndata: b')).toEqual(['a']);
  });

  it('takes a long line in time that grows with its length alone', () => {
    const reader = new EventStreamReader();
    const piece = new TextEncoder().encode('x'.repeat(4096));
    const started = performance.now();
    reader.push(new TextEncoder().encode('data: '));
    for (let i = 0; i < 2048; i++) expect(reader.push(piece)).toHaveLength(0);
    const [event] = reader.push(new TextEncoder().encode('\r\n\r\n'));
    expect(event).toHaveLength(2048 * 4096);
    // Some 50 ms; more than a minute where each piece has the whole line searched.
    expect(performance.now() - started).toBeLessThan(8000);
  }, 120_000);

  it('reads the same whatever the pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).filter((s) => !/[\r\n]/.test(s) && !s.startsWith(' '))),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        (texts, cuts, end) => {
          const whole = texts.map((text) => formatEvent(text).replaceAll('\n', end)).join('');
          expect(read(whole, cuts)).toEqual(texts.map((text) => text));
        },
      ),
      { numRuns: 300 },
    );
  });
});
