import { describe, expect, it } from 'vitest';
import { sampleSchema } from '../../../../protocol/records.ts';
import { STATUS } from '../../../../trainer-daemon/samples/reasons.ts';
import { build, call, episode, failed, fullRound, PLAN, type Recorded, recorded, rl } from './round.ts';

/** The statuses of one episode's calls, in turn order. */
async function statuses(round: Recorded[], index: number, changes: Parameters<typeof build>[1] = {}) {
  const { samples } = await build(round, changes);
  return samples.filter((sample) => sample.episode === round[index].episode.id).map((sample) => sample.status);
}
const call1 = (round: Recorded[], index: number, fields: Parameters<typeof call>[2]) => {
  round[index].calls[1] = call(round[index].episode, 1, fields);
};

describe('buildSamples on a whole round', () => {
  it('gives the hand-worked result', async () => {
    const round = fullRound();
    const built = await build(round);
    // Each group: rewards 1, 0, 0 -> A = 1 - 0 = 1 and 0 - 1/2 = -0.5 twice. Two turns each: u = 1/2.
    expect(built.items.map(({ advantage, u }) => [advantage, u])).toEqual(
      [1, 1, -0.5, -0.5, -0.5, -0.5, 1, 1, -0.5, -0.5, -0.5, -0.5].map((advantage) => [advantage, 0.5]),
    );
    expect(built.items[1]).toEqual({
      callId: 'cafecafe.r2.s-1.i12.a0.0.c1',
      episodeId: 'cafecafe.r2.s-1.i12.a0.0',
      promptTokenIds: Int32Array.of(100, 101, 1),
      responseTokenIds: Int32Array.of(7, 1),
      behaviourLogprobs: Float64Array.of(-0.5, -0.25),
      advantage: 1,
      u: 0.5,
    });
    expect(built.samples[1]).toEqual({
      call: 'cafecafe.r2.s-1.i12.a0.0.c1',
      episode: 'cafecafe.r2.s-1.i12.a0.0',
      advantage: 1,
      u: 0.5,
      promptLength: 3,
      responseLength: 2,
      status: 'selected',
    });
    expect(built.byStatus).toEqual({ selected: 12 });
    expect(built).toMatchObject({ groupsWithSignal: 2, successes: 2, invalid: 0, meanReward: 1 / 3, warnings: [] });
    for (const sample of built.samples) expect(sampleSchema.parse(sample)).toEqual(sample);
  });

  it('deals the advantages out anew for the control, and nothing else', async () => {
    const real = await build(fullRound());
    const config = rl({ advantage: 'permuted-control' });
    const dealt = [];
    for (let seed = 0; seed < 20; seed++) {
      const control = await build(fullRound(), { config, seed });
      expect(control.samples.map(({ status, u }) => [status, u])).toEqual(
        real.samples.map(({ status, u }) => [status, u]),
      );
      const perEpisode = new Map(control.items.map(({ episodeId, advantage }) => [episodeId, advantage]));
      expect(control.items.every((item) => item.advantage === perEpisode.get(item.episodeId))).toBe(true);
      expect([...perEpisode.values()].sort()).toEqual([-0.5, -0.5, -0.5, -0.5, 1, 1]);
      dealt.push([...perEpisode.values()].join());
    }
    expect(new Set(dealt).size).toBeGreaterThan(3);
    expect((await build(fullRound(), { config, seed: 7 })).items).toEqual(
      (await build(fullRound(), { config, seed: 7 })).items,
    );
  });

  it('refuses a plan of another round or version', async () => {
    await expect(build(fullRound(), { round: 3 })).rejects.toThrow(/plan is of round 2/);
    await expect(build(fullRound(), { policyVersion: 4 })).rejects.toThrow(/policy version 5/);
  });

  it('reports progress and asks for each episode once', async () => {
    const asked: string[] = [];
    const ticks: number[] = [];
    await build(fullRound(), {
      calls: async (id) => {
        asked.push(id);
        return [];
      },
      onProgress: (done, total) => ticks.push(done / total),
    });
    expect(new Set(asked).size).toBe(6);
    expect(asked.length).toBe(6);
    expect(ticks).toEqual([1, 2, 3, 4, 5, 6].map((done) => done / 6));
  });

  it('holds for a round without any episode', async () => {
    const built = await build([]);
    expect(built).toMatchObject({ samples: [], items: [], groupsWithSignal: 0, meanReward: 0, byStatus: {} });
    expect(built.warnings).toEqual(['2 x groups lack planned attempts; first: s/1 init 12 lacks 3 of 3']);
  });
});

describe('what keeps an episode out', () => {
  it('zero-weight:invalid-episode, and the others are compared without it', async () => {
    const round = fullRound();
    round[1] = recorded({ attempt: 1, valid: false, invalidReason: 'simulator crashed', end: 'crash' });
    expect(await statuses(round, 1)).toEqual([STATUS.invalidEpisode, STATUS.invalidEpisode]);
    const built = await build(round);
    expect(built.samples[2].advantage).toBeNull();
    // Left in the group: rewards 1 and 0.
    expect(built.items.slice(0, 4).map((item) => item.advantage)).toEqual([1, 1, -1, -1]);
    expect(built).toMatchObject({ invalid: 1, successes: 2, meanReward: 2 / 5 });
    expect(built.warnings).toEqual(['1 x episodes are invalid; first: cafecafe.r2.s-1.i12.a1.0 (simulator crashed)']);
  });

  it('zero-weight:no-outcome: cancelled, adapter failed, no number, contradicting records', async () => {
    for (const end of ['cancelled', 'adapter-error'] as const) {
      const round = fullRound();
      round[0] = recorded({ attempt: 0, valid: false, end });
      expect(await statuses(round, 0)).toEqual([STATUS.noOutcome, STATUS.noOutcome]);
      // The two left have equal rewards.
      expect(await statuses(round, 1)).toEqual([STATUS.equalRewards, STATUS.equalRewards]);
    }
    const missing = fullRound();
    missing[0].episode = { ...missing[0].episode, reward: Number.NaN };
    expect(await statuses(missing, 0)).toEqual([STATUS.noOutcome, STATUS.noOutcome]);

    const round = fullRound();
    const other = { ...round[0].episode, reward: 0 };
    for (const episodes of [
      [...round.map((one) => one.episode), other],
      [other, ...round.map((one) => one.episode)],
    ]) {
      expect(await statuses(round, 0, { episodes })).toEqual([STATUS.noOutcome, STATUS.noOutcome]);
    }
    expect((await build(round, { episodes: [...round.map((one) => one.episode), other] })).invalid).toBe(1);
  });

  it('takes a record that was written twice alike as one', async () => {
    const round = fullRound();
    const episodes = [...round, ...round].map((one) => one.episode);
    expect(await build(round, { episodes })).toEqual(await build(round));
  });

  it('zero-weight:not-planned: another role, round, group or attempt', async () => {
    for (const fields of [
      { role: 'validation' as const, attempt: 2 },
      { round: 1, attempt: 2 },
      { task: 's/7' },
      { init: 13 },
      { attempt: 3 },
    ]) {
      const round = fullRound().filter((_, index) => index !== 2);
      round.push(recorded(fields));
      expect(await statuses(round, round.length - 1)).toEqual([STATUS.notPlanned, STATUS.notPlanned]);
      const built = await build(round);
      expect(built.items.slice(0, 4).map((item) => item.advantage)).toEqual([1, 1, -1, -1]);
      expect(built.warnings.join()).toContain('not in the plan of round 2');
    }
  });

  it('zero-weight:superseded: only the last valid try of an attempt counts', async () => {
    const round = [...fullRound(), recorded({ attempt: 1, tryNumber: 1, reward: 1 })];
    expect(await statuses(round, 1)).toEqual([STATUS.superseded, STATUS.superseded]);
    const built = await build(round);
    // Rewards 1, 1 (second try), 0.
    expect(built.items.slice(0, 6).map((item) => item.advantage)).toEqual([0.5, 0.5, 0.5, 0.5, -1, -1]);
    // A first try that was lost to infrastructure is simply invalid.
    const repeated = [...fullRound(), recorded({ attempt: 1, tryNumber: 1 })];
    repeated[1] = recorded({ attempt: 1, valid: false });
    expect(await statuses(repeated, 1)).toEqual([STATUS.invalidEpisode, STATUS.invalidEpisode]);
    expect((await build(repeated)).byStatus).toEqual({ selected: 12, [STATUS.invalidEpisode]: 2 });
  });

  it('zero-weight:policy-version, for all calls of the episode, which still counts in its group', async () => {
    const round = fullRound();
    call1(round, 1, { policyVersion: 4 });
    expect(await statuses(round, 1)).toEqual([STATUS.policyVersion, STATUS.policyVersion]);
    const built = await build(round);
    expect(built.items.slice(0, 4).map((item) => item.advantage)).toEqual([1, 1, -0.5, -0.5]);
    expect(built.samples[2].advantage).toBe(-0.5);
    call1(round, 1, { policyVersion: null });
    expect(await statuses(round, 1)).toEqual([STATUS.policyVersion, STATUS.policyVersion]);
  });

  it('zero-weight:equal-rewards and zero-weight:too-few-valid', async () => {
    const equal = fullRound();
    equal[0].episode.reward = 0;
    const built = await build(equal);
    expect(built.byStatus).toEqual({ [STATUS.equalRewards]: 6, selected: 6 });
    expect(built.groupsWithSignal).toBe(1);
    expect(built.samples[0].advantage).toBeNull();

    // Where it is so in all groups, nothing is learned.
    for (const { episode } of equal) episode.reward = 0;
    expect((await build(equal)).warnings).toEqual([
      expect.stringMatching(
        /^no response is trained on .* have the same reward \(0 of 6 valid episodes solved\); .* raise rl\.attemptsPerGroup$/,
      ),
    ]);
    for (const { episode } of equal) Object.assign(episode, { valid: false, end: 'crash' });
    expect((await build(equal)).warnings.at(-1)).toMatch(/: 12 of 12 responses are zero-weight:invalid-episode; /);

    const few = fullRound();
    for (const index of [1, 2]) few[index] = recorded({ attempt: index, valid: false });
    expect(await statuses(few, 0)).toEqual([STATUS.tooFewValid, STATUS.tooFewValid]);
    expect(await statuses(few, 1)).toEqual([STATUS.invalidEpisode, STATUS.invalidEpisode]);
  });
});

describe('what keeps a call out', () => {
  it('zero-weight:prompt-mismatch takes no place in the selection and does not count in K', async () => {
    const round = fullRound(20);
    const renderPrompt = ({ turn, episode: id }: { turn: number; episode: string }) =>
      id === round[0].episode.id && turn >= 3 ? (turn === 3 ? null : [100, 101, turn, 0]) : [100, 101, turn];
    const mine = await statuses(round, 0, { renderPrompt });
    expect(mine).toEqual([...Array(3).fill(STATUS.selected), ...Array(17).fill(STATUS.promptMismatch)]);
    const built = await build(round, { renderPrompt });
    expect(built.items.slice(0, 3).map((item) => item.u)).toEqual([1 / 3, 1 / 3, 1 / 3]);
    expect(built.warnings).toEqual([
      `17 x prompts differ from the record when rendered again; first: ${round[0].episode.id}.c3: the template cannot render it`,
    ]);
    const changed = await build(round, { renderPrompt: ({ turn }) => [100, 102, turn] });
    expect(changed.items).toEqual([]);
    expect(changed.warnings[0]).toContain('token 1 is 101 in the record and 102 rendered');
    const shorter = await build(round, { renderPrompt: () => [100, 101] });
    expect(shorter.warnings[0]).toContain('3 tokens in the record, 2 rendered');
  });

  it('ineligible:finish-reason lets stop, tool_calls and length pass', async () => {
    for (const finishReason of ['stop', 'tool_calls', 'length', 'content_filter', 'abort', null]) {
      const round = fullRound();
      call1(round, 0, { finishReason });
      const passes = ['stop', 'tool_calls', 'length'].includes(finishReason ?? '');
      expect(await statuses(round, 0)).toEqual([STATUS.selected, passes ? STATUS.selected : STATUS.finishReason]);
    }
  });

  it('ineligible:too-long by rl.maxTokens and by the context, exact at the border', async () => {
    const round = fullRound();
    call1(round, 0, { responseTokenIds: [1, 2, 3], logprobs: [-1, -1, -1] });
    for (const changes of [
      { config: rl({ maxTokens: 5 }) },
      { contextLimit: 5 },
      { config: rl({ maxTokens: 6 }), contextLimit: 5 },
    ]) {
      expect(await statuses(round, 0, changes)).toEqual([STATUS.selected, STATUS.tooLong]);
    }
    expect(await statuses(round, 0, { config: rl({ maxTokens: 6 }), contextLimit: 6 })).toEqual(
      Array(2).fill(STATUS.selected),
    );
  });

  it('ineligible:after-success, with rl.postSuccess: drop', async () => {
    const round = fullRound(4);
    round[0].episode.successTurn = 1;
    const config = rl({ postSuccess: 'drop' });
    expect(await statuses(round, 0, { config })).toEqual([
      STATUS.selected,
      STATUS.selected,
      STATUS.afterSuccess,
      STATUS.afterSuccess,
    ]);
    expect((await build(round, { config })).items.slice(0, 2).map((item) => item.u)).toEqual([1 / 2, 1 / 2]);
    expect(await statuses(round, 0)).toEqual(Array(4).fill(STATUS.selected));
  });

  it('tells of an action that dropping leaves only where it failed', async () => {
    const ends = (id: string) => ({ id, type: 'function' as const, function: { name: 'finish', arguments: '{}' } });
    /** Two groups of three; every episode ends with `finish`, which in the solved ones comes after success. */
    const round = () => {
      const six = fullRound(3);
      for (const one of six) {
        const solved = one.episode.attempt < 2;
        one.episode.reward = solved ? 1 : 0;
        one.episode.successTurn = solved ? 1 : null;
        const response = { content: '', reasoning: null, toolCalls: [ends('a')] };
        one.calls[2] = call(one.episode, 2, { response, finishReason: 'tool_calls' });
      }
      return six;
    };
    const [warning, ...others] = (await build(round(), { config: rl({ postSuccess: 'drop' }) })).warnings;
    expect(others).toEqual([]);
    expect(warning).toMatch(
      /the tool finish is trained on nearly only where it failed \(2 times\): 4 times .*; set rl.postSuccess to keep; first: cafecafe/,
    );
    expect((await build(round())).warnings).toEqual([]);
    // Where it is rewarded as well, or never punished, nothing is one-sided.
    const early = round();
    early[0].episode.successTurn = 2;
    expect((await build(early, { config: rl({ postSuccess: 'drop' }) })).warnings).toEqual([]);
  });

  it('ineligible:empty-response', async () => {
    const round = fullRound();
    call1(round, 0, { responseTokenIds: [], logprobs: [] });
    expect(await statuses(round, 0)).toEqual([STATUS.selected, STATUS.emptyResponse]);
  });

  it('ineligible:limit: a call our own limit cut is dropped and no gap', async () => {
    const round = fullRound();
    round[1].episode.end = 'turn-limit';
    round[1].calls.push(call(round[1].episode, 2, failed('limit')));
    expect(await statuses(round, 1)).toEqual([STATUS.selected, STATUS.selected, STATUS.limit]);
    expect((await build(round)).items[2].u).toBe(1 / 2);
  });

  it('ineligible:resent: a failed call whose resend completed is no gap', async () => {
    const round = fullRound();
    const of = round[1].episode;
    const first = call(of, 1, failed('upstream-error'));
    const second = call(of, 1, { ...failed('timeout'), retryOf: first.id }, 1);
    const third = call(of, 1, { retryOf: second.id }, 2);
    round[1].calls = [third, call(of, 0), second, first];
    expect(await statuses(round, 1)).toEqual([STATUS.selected, STATUS.resent, STATUS.resent, STATUS.selected]);
    // The same when every resend names the first call, or the resend was given the next turn.
    round[1].calls = [call(of, 0), first, second, { ...third, retryOf: first.id }];
    expect(await statuses(round, 1)).toEqual([STATUS.selected, STATUS.resent, STATUS.resent, STATUS.selected]);
    round[1].calls = [call(of, 0), first, call(of, 2, { retryOf: first.id })];
    expect(await statuses(round, 1)).toEqual([STATUS.selected, STATUS.resent, STATUS.selected]);
  });

  it('not-selected beyond maxResponsesPerEpisode, and u = 1 / 16', async () => {
    const round = fullRound(40);
    const built = await build(round);
    expect(built.byStatus).toEqual({ selected: 6 * 16, 'not-selected': 6 * 24 });
    expect(new Set(built.items.map((item) => item.u))).toEqual(new Set([1 / 16]));
    const chosen = built.items.slice(0, 16).map((item) => item.callId);
    // In turn order, not the first sixteen, and another choice in another episode or under another seed.
    expect(chosen).toEqual(round[0].calls.map((one) => one.id).filter((id) => chosen.includes(id ?? '')));
    expect(chosen).not.toEqual(round[0].calls.slice(0, 16).map((one) => one.id));
    const turns = (ids: string[]) => ids.map((id) => Number(id.split('.c')[1]));
    expect(turns(built.items.slice(16, 32).map((item) => item.callId))).not.toEqual(turns(chosen));
    const otherSeed = (await build(round, { seed: 1 })).items.slice(0, 16).map((item) => item.callId);
    expect(otherSeed).not.toEqual(chosen);
  });
});

describe('zero-weight:incomplete-record', () => {
  const cases: [string, (one: Recorded) => void, RegExp][] = [
    ['a turn is missing', (one) => one.calls.splice(1, 1), /turn 1 is missing/],
    ['the last call was lost', (one) => one.calls.pop(), /counted 3 complete calls, 2 are recorded/],
    ['all calls were lost', (one) => one.calls.splice(0), /counted 3 complete calls, 0 are recorded/],
    ['a call is recorded twice', (one) => one.calls.push(call(one.episode, 1)), /recorded twice/],
    ['a turn has two complete calls', (one) => one.calls.push(call(one.episode, 1, {}, 1)), /two complete calls/],
    ['a call is of another episode', (one) => set(one, { episode: 'other' }), /belongs to episode other/],
    ['no prompt ids', (one) => set(one, { promptTokenIds: null }), /no prompt token ids/],
    ['no response ids', (one) => set(one, { responseTokenIds: null }), /no response token ids/],
    ['no log-probs', (one) => set(one, { logprobs: null }), /no log-probs/],
    ['too few log-probs', (one) => set(one, { logprobs: [-1] }), /2 response tokens but 1 log-probs/],
    ['a broken log-prob', (one) => set(one, { logprobs: [-1, Number.NaN] }), /finite log-prob at response token 1/],
    ['a call failed', (one) => set(one, failed('upstream-error')), /failed \(upstream-error\)/],
    ['a call was aborted', (one) => set(one, failed('aborted')), /failed \(aborted\)/],
    [
      'its resend failed too',
      (one) => {
        set(one, failed('upstream-error'));
        one.calls.push(call(one.episode, 1, { ...failed('timeout'), retryOf: `${one.episode.id}.c1` }, 1));
      },
      /failed \(upstream-error\)/,
    ],
  ];
  function set(one: Recorded, fields: Parameters<typeof call>[2]) {
    one.calls[1] = call(one.episode, 1, fields);
  }

  it.each(cases)('%s', async (_, damage, told) => {
    const round = fullRound(3);
    damage(round[1]);
    const built = await build(round);
    const mine = built.samples.filter((sample) => sample.episode === round[1].episode.id);
    expect(mine.length).toBe(new Set(round[1].calls.map(({ id }) => id)).size);
    for (const sample of mine)
      expect(sample).toMatchObject({ status: STATUS.incompleteRecord, u: null, advantage: -0.5 });
    // The episode stays in V_g: the others' advantages are those of the whole group.
    expect(built.items.map((item) => item.advantage)).toEqual([1, -0.5, 1, -0.5, -0.5].flatMap((a) => [a, a, a]));
    expect(built.warnings.length).toBe(1);
    expect(built.warnings[0]).toMatch(told);
  });

  it('damaged lines: with an id they get a status, without one a warning', async () => {
    const round = fullRound();
    const { id } = round[1].calls[1];
    round[1].calls[1] = { damaged: 'not JSON', id, turn: 1 };
    expect(await statuses(round, 1)).toEqual([STATUS.incompleteRecord, STATUS.incompleteRecord]);
    round[1].calls[1] = { damaged: 'not JSON', id: null, turn: null };
    const built = await build(round);
    expect(built.byStatus).toEqual({ [STATUS.incompleteRecord]: 1, selected: 10 });
    expect(built.warnings[0]).toContain('call of turn unknown is damaged: not JSON');
    round[1].calls[1] = { damaged: 'not JSON', id, turn: 1 };
    round[1].episode = episode({ attempt: 1, valid: false });
    expect(await statuses(round, 1)).toEqual([STATUS.invalidEpisode, STATUS.invalidEpisode]);
  });
});

it('tells every status apart in one round', async () => {
  const init = (n: number) => ({ task: 's/0', init: n });
  const plan = { ...PLAN, groups: [1, 2, 3].map(init) };
  // Group 1 has rewards 1, 0, 0; in group 2 all fail; group 3 has one valid attempt.
  const long = recorded({ ...init(1), attempt: 0, reward: 1, successTurn: 21 }, 23);
  long.calls.push(call(long.episode, 23, failed('limit')));
  long.calls[0] = call(long.episode, 0, failed('upstream-error'));
  long.calls.push(call(long.episode, 0, { retryOf: `${long.episode.id}.c0` }, 1));
  long.calls[1] = call(long.episode, 1, { promptTokenIds: [1] });
  long.calls[2] = call(long.episode, 2, { finishReason: 'content_filter' });
  long.calls[3] = call(long.episode, 3, { responseTokenIds: [], logprobs: [] });
  long.calls[4] = call(long.episode, 4, { responseTokenIds: Array(99).fill(1), logprobs: Array(99).fill(-1) });
  const gap = recorded({ ...init(1), attempt: 1 });
  gap.calls.pop();
  const stale = recorded({ ...init(1), attempt: 2, tryNumber: 1 });
  stale.calls[0] = call(stale.episode, 0, { policyVersion: 4 });
  const round = [
    long,
    gap,
    stale,
    recorded({ ...init(1), attempt: 2 }, 1),
    ...[0, 1, 2].map((attempt) => recorded({ ...init(2), attempt }, 1)),
    recorded({ ...init(3), attempt: 0 }, 1),
    recorded({ ...init(3), attempt: 1, valid: false }, 1),
    recorded({ ...init(3), attempt: 2, end: 'adapter-error' }, 1),
    recorded(init(4), 1),
  ];
  const { byStatus } = await build(round, { plan, contextLimit: 100, config: rl({ postSuccess: 'drop' }) });
  expect(byStatus).toEqual({
    [STATUS.resent]: 1,
    [STATUS.promptMismatch]: 1,
    [STATUS.finishReason]: 1,
    [STATUS.emptyResponse]: 1,
    [STATUS.tooLong]: 1,
    [STATUS.afterSuccess]: 1,
    [STATUS.limit]: 1,
    // Turns 0 (resent) and 5 to 21 are eligible: 18.
    selected: 16,
    'not-selected': 2,
    [STATUS.incompleteRecord]: 1,
    [STATUS.policyVersion]: 2,
    [STATUS.superseded]: 1,
    [STATUS.equalRewards]: 3,
    [STATUS.tooFewValid]: 1,
    [STATUS.invalidEpisode]: 1,
    [STATUS.noOutcome]: 1,
    [STATUS.notPlanned]: 1,
  });
  expect(new Set(Object.keys(byStatus))).toEqual(new Set(Object.values(STATUS)));
});
