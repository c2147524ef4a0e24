import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callId, episodeId } from '../../../../protocol/ids.ts';
import { Random } from '../../../../protocol/random.ts';
import {
  type EpisodeRecord,
  episodeSchema,
  type ResolvedCall,
  type SampleCall,
  targetSchema,
} from '../../../../protocol/records.ts';
import { type BuildTargetsInput, buildTargets, DROPPED } from '../../../../trainer-daemon/sft/targets.ts';

function episode(fields: Partial<EpisodeRecord> = {}): EpisodeRecord {
  const { task = 's/0', init = 11, attempt = 0, tryNumber = 0 } = fields;
  return episodeSchema.parse({
    version: 1,
    id: episodeId({ run: 'cafecafe', role: 'teacher', round: 0, task, init, attempt, tryNumber }),
    role: 'teacher',
    round: 0,
    task,
    init,
    attempt,
    reward: 1,
    valid: true,
    invalidReason: null,
    successTurn: null,
    policyVersion: null,
    turns: 2,
    seconds: 1,
    end: 'exit',
    tryNumber,
    outputDir: null,
    trajectory: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    ...fields,
  });
}

function call(of: EpisodeRecord, turn: number, fields: Partial<ResolvedCall> = {}): ResolvedCall {
  return {
    id: callId(of.id, turn),
    episode: of.id,
    turn,
    surface: 'chat',
    policyVersion: null,
    request: { messages: [{ role: 'user', content: `turn ${turn}` }], tools: null, other: {} },
    samplingAsked: {},
    samplingSent: {},
    promptTokenIds: [900, 901],
    responseTokenIds: [7, 8, 2],
    logprobs: [-0.5, -0.25, -0.1],
    response: { content: 'done', reasoning: null, toolCalls: [] },
    finishReason: 'tool_calls',
    usage: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    durations: { firstToken: 1, total: 2 },
    status: 'complete',
    error: null,
    retryOf: null,
    ...fields,
  };
}

type Recorded = { episode: EpisodeRecord; calls: SampleCall[] };
const recorded = (fields: Partial<EpisodeRecord> = {}, turns = 2): Recorded => {
  const of = episode({ turns, ...fields });
  return { episode: of, calls: Array.from({ length: turns }, (_, turn) => call(of, turn)) };
};

function build(teacher: Recorded[], changes: Partial<BuildTargetsInput> = {}) {
  const calls = new Map(teacher.map((one) => [one.episode.id, one.calls]));
  return buildTargets({
    episodes: teacher.map((one) => one.episode),
    calls: async (id) => calls.get(id) ?? [],
    renderPrompt: ({ turn }) => [50, 51, 52, turn],
    encodeResponse: ({ response }) => [60, response?.content?.length ?? 0, 2],
    sameTokenizer: true,
    maxTokens: 2048,
    ...changes,
  });
}

describe('buildTargets', () => {
  it("takes the student's prompt and the teacher's recorded ids", async () => {
    const { records, targets, dropped, warnings } = await build([recorded()]);
    expect(targets).toEqual(
      [0, 1].map((turn) => ({
        callId: `cafecafe.t0.s-0.i11.a0.0.c${turn}`,
        episodeId: 'cafecafe.t0.s-0.i11.a0.0',
        promptTokenIds: Int32Array.of(50, 51, 52, turn),
        responseTokenIds: Int32Array.of(7, 8, 2),
      })),
    );
    expect(records[1]).toEqual({
      call: 'cafecafe.t0.s-0.i11.a0.0.c1',
      episode: 'cafecafe.t0.s-0.i11.a0.0',
      status: 'target',
      source: 'recorded-ids',
      promptLength: 4,
      responseLength: 3,
    });
    expect(dropped).toEqual({});
    expect(warnings).toEqual([]);
  });

  it('encodes the structured response again for another tokenizer, or where no ids were recorded', async () => {
    const other = await build([recorded({}, 1)], { sameTokenizer: false });
    expect([...other.targets[0].responseTokenIds]).toEqual([60, 4, 2]);
    expect(other.records[0].source).toBe('re-encoded');
    const one = recorded({}, 1);
    one.calls[0] = call(one.episode, 0, { promptTokenIds: null, responseTokenIds: null, logprobs: null });
    const none = await build([one]);
    expect([...none.targets[0].responseTokenIds]).toEqual([60, 4, 2]);
    expect(none.records[0]).toMatchObject({ status: 'target', source: 're-encoded' });
  });

  it('drops with the reason', async () => {
    const cases: [string, Partial<EpisodeRecord>, Partial<ResolvedCall>, Partial<BuildTargetsInput>][] = [
      [DROPPED.invalidEpisode, { valid: false }, {}, {}],
      [DROPPED.failedEpisode, { reward: 0 }, {}, {}],
      [DROPPED.failedEpisode, { reward: 0.5 }, {}, {}],
      [DROPPED.notFinishedNormally, {}, { finishReason: 'length' }, {}],
      [DROPPED.notFinishedNormally, {}, { finishReason: 'content_filter' }, {}],
      [DROPPED.notFinishedNormally, {}, { finishReason: null }, {}],
      [DROPPED.notFinishedNormally, {}, { status: 'upstream-error', response: null, responseTokenIds: null }, {}],
      [DROPPED.afterSuccess, { successTurn: 0 }, {}, { postSuccess: 'drop' }],
      [DROPPED.unrenderable, {}, {}, { renderPrompt: ({ turn }) => (turn === 1 ? null : [1]) }],
      [DROPPED.unrenderable, {}, {}, { sameTokenizer: false, encodeResponse: ({ turn }) => (turn === 1 ? null : [1]) }],
      [DROPPED.emptyResponse, {}, { responseTokenIds: [] }, {}],
      [DROPPED.emptyResponse, {}, { responseTokenIds: null, response: null }, {}],
      [DROPPED.emptyResponse, {}, {}, { sameTokenizer: false, encodeResponse: ({ turn }) => (turn === 1 ? [] : [1]) }],
      [DROPPED.tooLong, {}, { responseTokenIds: [1, 2, 3, 4] }, { maxTokens: 7 }],
    ];
    for (const [status, ofEpisode, ofCall, changes] of cases) {
      const one = recorded(ofEpisode);
      one.calls[1] = call(one.episode, 1, ofCall);
      const built = await build([one], changes);
      expect(built.records[1]).toMatchObject({ status, source: null });
      const whole = status === DROPPED.invalidEpisode || status === DROPPED.failedEpisode;
      expect(built.dropped).toEqual({ [status]: whole ? 2 : 1 });
      expect(built.targets.length).toBe(whole ? 0 : 1);
      for (const record of built.records) expect(targetSchema.parse(record)).toEqual(record);
    }
  });

  it('keeps turns after success unless told otherwise: they teach how to end', async () => {
    const built = await build([recorded({ successTurn: 0 }, 3)]);
    expect(built.targets.length).toBe(3);
    const dropped = await build([recorded({ successTurn: 0 }, 3)], { postSuccess: 'drop' });
    expect(dropped.dropped).toEqual({ [DROPPED.afterSuccess]: 2 });
  });

  it('tells damaged lines and goes on with the rest', async () => {
    const one = recorded({}, 3);
    one.calls[1] = { damaged: 'not JSON', id: 'cafecafe.t0.s-0.i11.a0.0.c1', turn: 1 };
    one.calls[2] = { damaged: 'torn', id: null, turn: null };
    const built = await build([one]);
    expect(built.records.map((record) => record.status)).toEqual(['target', DROPPED.damaged]);
    expect(built.dropped).toEqual({ [DROPPED.damaged]: 2 });
    expect(built.warnings).toEqual([
      'call cafecafe.t0.s-0.i11.a0.0.c1 of episode cafecafe.t0.s-0.i11.a0.0 is damaged: not JSON',
      'call of turn unknown of episode cafecafe.t0.s-0.i11.a0.0 is damaged: torn',
    ]);
  });

  it('trusts no episode with two different records, and takes equal ones once', async () => {
    const one = recorded();
    const twice = await build([one], { episodes: [one.episode, { ...one.episode }] });
    expect(twice.targets.length).toBe(2);
    const built = await build([one], { episodes: [one.episode, { ...one.episode, reward: 0 }] });
    expect(built.dropped).toEqual({ [DROPPED.invalidEpisode]: 2 });
    expect(built.warnings[0]).toContain('contradict');
  });

  it('does not depend on the order of files and lines, and accounts for every call', async () => {
    const drawn = fc.array(
      fc.record({ reward: fc.constantFrom(0, 1, 1), valid: fc.constantFrom(true, true, false), turns: fc.nat(5) }),
      { minLength: 1, maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(drawn, fc.nat(), async (shapes, seed) => {
        // Tasks 0 to 13: in numeric order, not in that of their names.
        const teacher = shapes.map(({ reward, valid, turns }, k) => recorded({ task: `s/${k}`, reward, valid }, turns));
        const random = new Random('file-order', seed);
        const shuffled = random.shuffle(teacher).map((one) => ({ ...one, calls: random.shuffle(one.calls) }));
        const built = await build(teacher);
        expect(await build(shuffled)).toEqual(built);
        expect(built.records.map((record) => record.call)).toEqual(
          teacher.flatMap((one) => one.calls.map((recordedCall) => recordedCall.id)),
        );
        const dropped = Object.values(built.dropped).reduce((sum, count) => sum + count, 0);
        expect(built.targets.length + dropped).toBe(built.records.length);
      }),
      { numRuns: 60 },
    );
  });

  it('reports progress', async () => {
    const ticks: string[] = [];
    await build([recorded({ init: 11 }), recorded({ init: 12 })], {
      onProgress: (done, total) => ticks.push(`${done}/${total}`),
    });
    expect(ticks).toEqual(['1/2', '2/2']);
  });
});
