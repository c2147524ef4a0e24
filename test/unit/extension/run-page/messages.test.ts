/** What host and page send each other: changes that lead where the data is, and nothing unchecked. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageDocument } from '../../../../extension/panel/document.ts';
import { fill } from '../../../../extension/panel/words.ts';
import { changeBetween, withChange } from '../../../../extension/run-page/changes.ts';
import { csvOf } from '../../../../extension/run-page/csv.ts';
import type { PageData } from '../../../../extension/run-page/data.ts';
import { readRestore, toHostSchema, toPageSchema } from '../../../../extension/run-page/messages.ts';
import { readReport } from '../../../../extension/run-page/report.ts';
import { pageWords } from '../../../../extension/run-page/wording.ts';
import type { JournalEvent } from '../../../../protocol/journal.ts';
import { BEGIN, episodes, step, told } from './entries.ts';

const events: JournalEvent[] = [
  { type: 'run-started', run: '01234567', stages: ['teacher', 'rl'] },
  { type: 'round-planned', round: 1, policyVersion: 1, groups: 2, attempts: 2 },
  ...episodes('rounds/0001', [1, null, 0]),
  step(1),
  step(2),
  step(3),
  step(2),
  { type: 'samples-built', round: 1, selected: 1, byStatus: { selected: 1 } },
  { type: 'warning', message: 'something' },
  { type: 'round-finished', round: 1, policyVersion: 2 },
  { type: 'run-failed', message: 'no power' },
];

describe('changes', () => {
  it('one after the other lead to what a snapshot would show, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: events.length, maxLength: events.length }), (sends) => {
        const { model, tell } = told([]);
        let sent = model.data(BEGIN);
        let shown: PageData = structuredClone(sent);
        events.forEach((event, at) => {
          tell(event);
          if (!sends[at] && at < events.length - 1) return;
          const next = model.data(BEGIN);
          const change = changeBetween(sent, next, model.takeNews());
          sent = next;
          if (!change) return;
          // As it goes through a message, and as the page checks it.
          const read = toPageSchema.parse(JSON.parse(JSON.stringify(change)));
          if (read.type === 'change') shown = withChange(shown, read);
        });
        expect(shown).toEqual(JSON.parse(JSON.stringify(model.data(BEGIN))));
      }),
      { numRuns: 50 },
    );
  });

  it('hold only what is other, and are none when nothing is', () => {
    const { model, tell } = told(events.slice(0, 6));
    const before = model.data(BEGIN);
    expect(changeBetween(before, model.data(BEGIN), [])).toBeUndefined();
    tell(step(2));
    const change = changeBetween(before, model.data(BEGIN), []);
    expect(Object.keys(change?.parts ?? {})).toEqual(['head']);
    expect(change?.steps).toMatchObject({ from: 1, rows: [{ step: 2 }] });
  });
});

describe('messages', () => {
  it('of another shape are refused on both sides', () => {
    for (const wrong of [
      undefined,
      'ready',
      {},
      { type: 'ready', more: 1 },
      { type: 'export-csv', table: '../../etc/passwd' },
      { type: 'export-png', plot: 'success', base64: '<svg onload=alert(1)>' },
      { type: 'export-png', plot: 'success', base64: 'A'.repeat(25 * 1024 * 1024) },
      { type: 'trouble', message: 'x'.repeat(5000) },
    ])
      expect(toHostSchema.safeParse(wrong).success, JSON.stringify(wrong)?.slice(0, 80)).toBe(false);
    for (const wrong of [
      { type: 'change', parts: { head: 1 }, news: [] },
      { type: 'change', news: [] },
      { type: 'snapshot' },
    ])
      expect(toPageSchema.safeParse(wrong).success).toBe(false);
    expect(toHostSchema.parse({ type: 'export-csv', table: 'samples' })).toEqual({
      type: 'export-csv',
      table: 'samples',
    });
  });

  it('what the editor gives back after a reload is used only when it is ours', () => {
    expect(readRestore({ folder: 'file:///w', run: 'runs/a' })).toEqual({ folder: 'file:///w', run: 'runs/a' });
    for (const wrong of [
      undefined,
      null,
      1,
      { run: 'runs/a' },
      { folder: 'file:///w', run: '' },
      ...['../x', 'runs/../../x', 'runs\\..\\x', '/etc', 'C:\\x'].map((run) => ({ folder: 'file:///w', run })),
    ])
      expect(readRestore(wrong)).toBeUndefined();
  });

  it('a report of another shape is no report', () => {
    expect(readReport({ rounds: [], evaluations: null, more: 1 })).toEqual({ rounds: [], evaluations: null });
    expect(() => readReport({ rounds: 'many' })).toThrow();
  });
});

describe('csv', () => {
  const data = (): PageData => told(events).model.data(BEGIN);

  it('has the rows of a plot whole, and gaps where there is nothing', () => {
    expect(csvOf(data(), 'rlLoss')).toBe('step,loss,learningRate\r\n1,0.1,0.0001\r\n2,0.2,0.0001\r\n');
    expect(csvOf(data(), 'invalid')).toBe(
      'round,invalidShare,invalidEpisodes,episodes\r\n1,0.3333333333333333,1,3\r\n',
    );
    expect(csvOf(data(), 'samples')).toBe('round,status,calls\r\n1,selected,1\r\n');
  });

  it('quotes what has to be quoted, and lets no name be a formula', () => {
    const rate = { episodes: 2, successes: 1, rate: 0.5, low: 0.1, high: 0.9 };
    const suites = { '=cmd()': rate, 'a "b", c': rate };
    const evaluations = { planners: [{ label: 'base', overall: rate, suites, invalid: 0 }], comparisons: [] };
    const lines = csvOf({ ...data(), evaluations }, 'evaluations').split('\r\n');
    expect(lines.slice(1, 4)).toEqual([
      "'=cmd(),base,1,2,0.5,0.1,0.9,,,,,",
      '"a ""b"", c",base,1,2,0.5,0.1,0.9,,,,,',
      'overall,base,1,2,0.5,0.1,0.9,,,,,',
    ]);
  });
});

describe('the document', () => {
  it('lets nothing run but its script, and no title become an element', () => {
    const html = pageDocument({
      ...{ script: 'https://host/run-page.mjs', style: 'https://host/run-page.css', source: 'https://host' },
      ...{ nonce: 'abc123', title: '</title><script>alert(1)</script>', language: 'en"onload="x' },
    });
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('script-src &#39;nonce-abc123&#39;');
    expect(html).toContain('default-src &#39;none&#39;');
    expect(html).not.toMatch(/unsafe|"onload=/);
  });
});

describe('words', () => {
  it('are filled in once; what is put in has no gaps of its own', () => {
    expect(fill('{0} of {1}', '{1}', 2)).toBe('{1} of 2');
    expect(fill('{0} of {1}', 1)).toBe('1 of {1}');
  });

  it('all have a text', () => {
    for (const text of Object.values(pageWords({ t: (text) => text }))) expect(text).not.toBe('');
  });
});
