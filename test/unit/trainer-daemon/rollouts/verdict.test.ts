import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../protocol/adapter.ts';
import type { RecordedCall } from '../../../../trainer-daemon/proxy/contract.ts';
import { type EpisodeFacts, judgeEpisode } from '../../../../trainer-daemon/rollouts/verdict.ts';

const call = (turn: number, status: RecordedCall['status'] = 'complete'): RecordedCall => ({
  id: `e.c${turn}`,
  turn,
  status,
  finishReason: 'stop',
  response: null,
  policyVersion: 0,
  retryOf: null,
});
const said = (change: Partial<Outcome> = {}): EpisodeFacts['outcome'] => ({
  ok: true,
  value: { task: 's/0', init: 1, attempt: 2, reward: 1, valid: true, ...change },
});
const failed: EpisodeFacts['outcome'] = { ok: false, problem: 'no result' };
const facts = (change: Partial<EpisodeFacts>): EpisodeFacts => ({
  task: 's/0',
  init: 1,
  attempt: 2,
  ending: 'exit',
  detail: '',
  calls: [call(0), call(1)],
  lostCalls: 0,
  idleSeconds: 600,
  outcome: said(),
  ...change,
});

describe('verdict', () => {
  it.each<[string, Partial<EpisodeFacts>, number, boolean, string | null]>([
    ['success', {}, 1, true, null],
    ['failure', { outcome: said({ reward: 0 }) }, 0, true, null],
    ['a negative reward', { outcome: said({ reward: -0.5 }) }, -0.5, true, null],
    ['success before a crash', { ending: 'crash' }, 1, true, null],
    ['a crash that the adapter calls a failure', { ending: 'crash', outcome: said({ reward: 0 }) }, 0, true, null],
    ['a crash that it cannot read', { ending: 'crash', outcome: failed }, 0, false, 'adapter-error: no result'],
    ['a limit with nothing left behind', { ending: 'turn-limit', outcome: failed }, 0, true, null],
    ['a limit called invalid', { ending: 'time-limit', outcome: said({ valid: false }) }, 0, true, null],
    ['a limit after success', { ending: 'time-limit' }, 1, true, null],
    ['a limit with a part', { ending: 'token-limit', outcome: said({ reward: 0.5 }) }, 0.5, true, null],
    ['a limit without any call', { ending: 'time-limit', calls: [] }, 0, false, 'no planner call'],
    ['a limit and another task', { ending: 'turn-limit', outcome: said({ task: 'x/0' }) }, 0, false, 'adapter-error'],
    ['a hang', { ending: 'hang' }, 0, false, 'hang: no call and no output for 600 s'],
    ['a lost call', { lostCalls: 1 }, 0, false, 'lost call'],
    ['no call', { calls: [] }, 0, false, 'no planner call'],
    ['launch() failed', { ending: 'adapter-error', detail: 'x', calls: [] }, 0, false, 'adapter-error: x'],
    ['called invalid', { outcome: said({ valid: false, invalidReason: 'camera' }) }, 0, false, 'camera'],
    ['called invalid without a word', { outcome: said({ valid: false }) }, 0, false, 'the adapter says so'],
    ['another init', { outcome: said({ init: 3 }) }, 0, false, 'answered init 3'],
    ['another attempt', { outcome: said({ attempt: 0 }) }, 0, false, 'answered attempt 0'],
    ['success at the last turn', { outcome: said({ successTurn: 1 }) }, 1, true, null],
    ['success after the last turn', { outcome: said({ successTurn: 2 }) }, 0, false, 'successTurn 2'],
    [
      'an unanswered last call',
      { calls: [call(0), call(1, 'upstream-error')], outcome: said({ reward: 0 }) },
      0,
      false,
      'upstream failure',
    ],
    ['success all the same', { calls: [call(0), call(1, 'upstream-error')] }, 1, true, null],
    [
      'a failed call that was overcome',
      { calls: [call(0, 'upstream-error'), call(1)], outcome: said({ reward: 0 }) },
      0,
      true,
      null,
    ],
  ])('%s', (_, change, reward, valid, reason) => {
    const verdict = judgeEpisode(facts(change));
    expect([verdict.reward, verdict.valid]).toEqual([reward, valid]);
    if (reason === null) expect(verdict.invalidReason).toBeNull();
    else expect(verdict.invalidReason).toContain(reason);
    if (!valid) expect(verdict.successTurn).toBeNull();
  });

  it('counts complete calls only', () => {
    const calls = [call(0, 'upstream-error'), call(0), call(1, 'limit')];
    expect(judgeEpisode(facts({ calls, ending: 'time-limit' })).turns).toBe(1);
  });
});
