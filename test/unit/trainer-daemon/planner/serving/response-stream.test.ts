import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseResponse } from '../../../../../trainer-daemon/planner/chat-template.ts';
import { ResponseStream } from '../../../../../trainer-daemon/planner/serving/response-stream.ts';
import { loadTokenizer, type PlannerTokenizer } from '../../../../../trainer-daemon/planner/tokenizer.ts';
import { tinyPlanner } from '../tiny-planner.ts';

let compact: PlannerTokenizer;
let foreign: PlannerTokenizer;
beforeAll(async () => {
  const folder = await tinyPlanner();
  compact = await loadTokenizer(folder);
  await writeFile(join(folder, 'chat_template.jinja'), '{{ messages }}');
  foreign = await loadTokenizer(folder);
});

function streamed(tokenizer: PlannerTokenizer, ids: number[], open: boolean) {
  const stream = new ResponseStream(tokenizer, open);
  const deltas = ids.map((id) => stream.push(id));
  const { delta, whole } = stream.finish();
  const all = [...deltas, delta];
  return {
    reasoning: all.map((d) => d.reasoning ?? '').join(''),
    content: all.map((d) => d.content ?? '').join(''),
    calls: all.flatMap((d) => d.toolCalls ?? []),
    early: deltas.map((d) => d.content ?? '').join(''),
    whole,
  };
}

describe('ResponseStream', () => {
  it('tells, in pieces, exactly what the parser makes of the whole', () => {
    const pieces = [
      '<think>',
      '</think>',
      '<tool_call>',
      '</tool_call>',
      'move{"x": 1}',
      '\n',
      '\n\n',
      'text',
      '<|im_start|>',
      '\u00e9\u{1f600}',
      ' ',
    ];
    const response = fc.oneof(
      fc
        .array(fc.constantFrom(...pieces), { maxLength: 12 })
        .map((parts) => compact.encodeTemplateOutput(parts.join(''), '')),
      fc.array(fc.integer({ min: 0, max: 359 }), { maxLength: 25 }),
    );
    fc.assert(
      fc.property(response, fc.boolean(), fc.boolean(), (ids, ours, open) => {
        const tokenizer = ours ? compact : foreign;
        const whole = parseResponse(tokenizer, ids, open);
        const got = streamed(tokenizer, ids, open);
        expect(got.whole).toEqual(whole);
        expect(got.reasoning).toBe(whole.reasoning_content ?? '');
        expect(got.content).toBe(whole.content ?? '');
        expect(got.calls).toEqual(whole.tool_calls ?? []);
      }),
      { numRuns: 600 },
    );
  });

  it('tells text as it comes, and never half a character', () => {
    const ids = compact.encodeText('a\u{1f600}b');
    const stream = new ResponseStream(compact, false);
    const parts = ids.map((id) => stream.push(id).content);
    expect(parts.filter((part) => part !== undefined)).toEqual(['a', '\u{1f600}', 'b']);
    expect(stream.finish().delta).toEqual({});
  });
});
