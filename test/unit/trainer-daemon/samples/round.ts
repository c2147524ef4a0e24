/** A recorded round for the tests of this folder: episodes and calls as a run directory gives them. */
import { configSchema, type TrainingConfig } from '../../../../protocol/config.ts';
import { callId, episodeId } from '../../../../protocol/ids.ts';
import {
  type EpisodeRecord,
  episodeSchema,
  type ResolvedCall,
  type RoundPlan,
  type SampleCall,
} from '../../../../protocol/records.ts';
import { type BuildSamplesInput, type BuiltRound, buildSamples } from '../../../../trainer-daemon/samples/build.ts';

export const RUN = 'cafecafe';
export const PLAN: RoundPlan = {
  round: 2,
  policyVersion: 5,
  attempts: 3,
  groups: [
    { task: 's/1', init: 12 },
    { task: 's/0', init: 11 },
  ],
};

export const rl = (changes: Partial<TrainingConfig['rl']> = {}): TrainingConfig['rl'] => ({
  ...configSchema.parse({ version: 1, name: 'test', harness: { adapter: 'tabletop-skills', suites: ['s'] } }).rl,
  ...changes,
});

export function episode(fields: Partial<EpisodeRecord>): EpisodeRecord {
  const { task = 's/1', init = 12, attempt = 0, tryNumber = 0 } = fields;
  return episodeSchema.parse({
    version: 1,
    id: episodeId({ run: RUN, role: 'rollout', round: PLAN.round, task, init, attempt, tryNumber }),
    role: 'rollout',
    round: PLAN.round,
    task,
    init,
    attempt,
    reward: 0,
    valid: true,
    invalidReason: null,
    successTurn: null,
    policyVersion: PLAN.policyVersion,
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

export function call(of: EpisodeRecord, turn: number, fields: Partial<ResolvedCall> = {}, resend = 0): ResolvedCall {
  return {
    id: callId(of.id, turn, resend),
    episode: of.id,
    turn,
    surface: 'chat',
    policyVersion: PLAN.policyVersion,
    request: { messages: [{ role: 'user', content: `turn ${turn}` }], tools: null, other: {} },
    samplingAsked: {},
    samplingSent: {},
    promptTokenIds: [100, 101, turn],
    responseTokenIds: [7, turn],
    logprobs: [-0.5, -0.25],
    response: { content: 'text', reasoning: null, toolCalls: [] },
    finishReason: 'stop',
    usage: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    durations: { firstToken: 1, total: 2 },
    status: 'complete',
    error: null,
    retryOf: null,
    ...fields,
  };
}

/** What a failed call leaves. */
export const failed = (status: ResolvedCall['status']): Partial<ResolvedCall> => ({
  status,
  error: 'no answer',
  responseTokenIds: null,
  logprobs: null,
  response: null,
  finishReason: null,
});

export interface Recorded {
  episode: EpisodeRecord;
  calls: SampleCall[];
}

/** An episode with `turns` complete calls. */
export function recorded(fields: Partial<EpisodeRecord>, turns = 2): Recorded {
  const of = episode({ turns, ...fields });
  return { episode: of, calls: Array.from({ length: turns }, (_, turn) => call(of, turn)) };
}

/** Both groups of the plan; the first attempt of each solved. */
export function fullRound(turns = 2): Recorded[] {
  return PLAN.groups.flatMap((group) =>
    [0, 1, 2].map((attempt) => recorded({ ...group, attempt, reward: attempt === 0 ? 1 : 0 }, turns)),
  );
}

export function build(round: Recorded[], changes: Partial<BuildSamplesInput> = {}): Promise<BuiltRound> {
  const calls = new Map(round.map((one) => [one.episode.id, one.calls]));
  return buildSamples({
    round: PLAN.round,
    policyVersion: PLAN.policyVersion,
    plan: PLAN,
    episodes: round.map((one) => one.episode),
    calls: async (id) => calls.get(id) ?? [],
    renderPrompt: ({ turn }) => [100, 101, turn],
    config: rl(),
    contextLimit: 2048,
    seed: 0,
    ...changes,
  });
}
