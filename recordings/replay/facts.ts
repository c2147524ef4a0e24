/**
 * What can be asked about a position: by conditions of breakpoints, by the debug console, and by all that show values. A
 * name has one meaning everywhere; what is not known there is null.
 */
import type { Message } from '../../protocol/chat.ts';
import type { ResolvedCall } from '../../protocol/records.ts';
import { isDamaged } from '../documents.ts';
import { UNREAD_MESSAGE } from '../resolve.ts';
import type { ReplayAction } from './actions.ts';
import type { Part } from './cursor.ts';
import type { ReplayCall, ReplayEpisode } from './episode.ts';
import { type Expression, parseExpression } from './expression.ts';
import { tokensOf } from './tokens.ts';
import { vocabularyOf } from './vocabulary.ts';

/** What a name is about: the whole episode, one call, or one tool call or cell of it. */
export type FactLevel = 'episode' | 'call' | 'part';
/** Under which heading a name is shown. */
export type FactScope = 'context' | 'response' | 'tokens' | 'outcome' | 'credit';

/** Where facts are asked for. */
export interface FactPlace {
  episode: ReplayEpisode;
  /** Null in an episode without calls, and at its outcome. */
  call: ReplayCall | null;
  part: Part;
}

export interface Fact {
  level: FactLevel;
  scope: FactScope;
  /** For completions. */
  words: string;
  of(place: FactPlace): unknown;
}

/** The place of a part of an episode. */
export async function placeAt(episode: ReplayEpisode, call: number, part: Part): Promise<FactPlace> {
  const none = part === 'outcome' || call >= episode.length;
  return { episode, call: none ? null : await episode.call(call), part };
}

const ofCall = (scope: FactScope, words: string, of: (call: ResolvedCall, place: FactPlace) => unknown): Fact => ({
  ...{ level: 'call', scope, words },
  of: (place) => (place.call === null || isDamaged(place.call.call) ? null : of(place.call.call, place)),
});
const ofPart = (words: string, of: (action: ReplayAction) => unknown): Fact => ({
  ...{ level: 'part', scope: 'response', words },
  of: ({ call, part }) => {
    const action = typeof part === 'number' ? call?.toolCalls[part] : undefined;
    return action ? of(action) : null;
  },
});
const ofSample = (words: string, of: (call: ReplayCall) => unknown): Fact => ({
  ...{ level: 'call', scope: 'credit', words },
  of: ({ call }) => (call ? of(call) : null),
});
const ofEpisode = (scope: FactScope, words: string, of: (episode: ReplayEpisode) => unknown): Fact => ({
  ...{ level: 'episode', scope, words },
  of: ({ episode }) => of(episode),
});
const ofRecord = (words: string, field: keyof NonNullable<ReplayEpisode['outcome']['record']>): Fact =>
  ofEpisode('outcome', words, ({ outcome }) => outcome.record?.[field] ?? null);

const FACTS = {
  turn: ofCall('context', 'number of the call in its episode, from 0', ({ turn }) => turn),
  id: ofCall('context', 'id of the call', ({ id }) => id),
  newSince: ofCall('context', 'messages that the previous call had, too', (_, { call }) => call?.newSince),
  messages: ofCall('context', 'the whole request; null for a message that cannot be read', ({ request }) =>
    knownMessages(request.messages),
  ),
  tools: ofCall('context', 'tools that were offered', ({ request }) => request.tools ?? []),
  images: ofCall('context', 'images of the request', ({ request }) => imagesOf(request.messages)),
  sampling: ofCall('context', 'sampling as it was sent', ({ samplingSent }) => samplingSent),
  samplingAsked: ofCall('context', 'sampling as the harness asked for it', ({ samplingAsked }) => samplingAsked),
  other: ofCall('context', 'everything else that the harness sent', ({ request }) => request.other),
  surface: ofCall('context', 'which kind of request it was', ({ surface }) => surface),
  policyVersion: ofCall('context', 'version of the planner; null for a teacher', ({ policyVersion }) => policyVersion),
  promptTokens: ofCall('context', 'length of the prompt in tokens', lengthOfPrompt),
  promptTokenIds: ofCall('context', 'token ids of the prompt', ({ promptTokenIds }) => promptTokenIds),
  damaged: {
    ...{
      level: 'call',
      scope: 'context',
      words: 'why the call, or what it starts from, cannot be read',
    },
    of: ({ call }) => (call && isDamaged(call.call) ? call.call.damaged : (call?.contextDamaged ?? null)),
  },
  problems: {
    ...{ level: 'call', scope: 'context', words: 'records about the call that cannot be read' },
    of: ({ call }) => call?.problems ?? [],
  },

  reasoning: ofCall('response', 'what the planner thought', ({ response }) => response?.reasoning),
  text: ofCall('response', 'what the planner said', ({ response }) => response?.content),
  called: ofCall('response', 'names of the tools it called', (_, { call }) => call?.toolCalls.map(({ name }) => name)),
  toolCalls: ofCall('response', 'its tool calls or code, with what came back', (_, { call }) => call?.toolCalls),
  finishReason: ofCall('response', 'why the response ended', ({ finishReason }) => finishReason),
  truncated: ofCall('response', 'the response was cut at its longest', ({ finishReason }) => finishReason === 'length'),
  callStatus: ofCall('response', 'complete, or why there is no response', ({ status }) => status),
  error: ofCall('response', 'what the server said when it failed', ({ error }) => error),
  retryOf: ofCall('response', 'the call that was sent again', ({ retryOf }) => retryOf),
  untrainable: ofCall('response', 'why it may not be trained on', ({ untrainable }) => untrainable),
  latency: ofCall('response', 'milliseconds to the end of the response', ({ durations }) => durations.total),
  firstToken: ofCall('response', 'milliseconds to the first token', ({ durations }) => durations.firstToken),
  startedAt: ofCall('response', 'when the call was sent', ({ startedAt }) => startedAt),
  usage: ofCall('response', 'tokens as the server counted them', ({ usage }) => usage),
  held: {
    ...{ level: 'call', scope: 'response', words: 'what the gripper holds afterwards' },
    of: ({ episode, call, part }) =>
      call ? episode.heldAfter(call.position, typeof part === 'number' ? part : undefined) : null,
  },
  tool: ofPart('name of the tool call, language of a cell', ({ name }) => name),
  arguments: ofPart('arguments of the tool call', (action) => action.arguments),
  argumentText: ofPart('arguments as the planner wrote them', ({ argumentText }) => argumentText),
  code: ofPart('code that the planner wrote', ({ code }) => code),
  result: ofPart('what came back', ({ result }) => result),
  failed: ofPart('the result reports a failure', ({ failed }) => failed),
  exception: ofPart('the code raised an exception', ({ exception }) => exception),

  tokens: ofCall('tokens', 'length of the response in tokens', ({ responseTokenIds }) => responseTokenIds?.length),
  logprob: ofCall('tokens', 'log b of the response: min, mean, max, sum', ({ logprobs }) => statistics(logprobs)),
  logq: ofCall('tokens', 'log q of the response: min, mean, max, sum', (_, { call }) => lastScore(call, 'logq')),
  logp: ofCall('tokens', 'log p of the response: min, mean, max, sum', (_, { call }) => lastScore(call, 'logp')),
  weight: ofCall('tokens', 'importance weights: min, mean, max, sum', (_, { call }) => lastScore(call, 'w')),
  clipped: ofCall('tokens', 'how many tokens were clipped', (_, { call }) => {
    const score = call?.scores.at(-1);
    return score ? score.clipped.filter((flag) => flag > 0).length : null;
  }),
  token: ofCall('tokens', 'the tokens, each with id, text, logb, logq, logp, w, clipped', async (call, place) =>
    place.call ? tokensOf(place.call, await vocabularyOf(place.episode.recording, call.policyVersion)) : null,
  ),

  task: ofRecord('task of the episode', 'task'),
  init: ofRecord('initial state of the episode', 'init'),
  attempt: ofRecord('number of the attempt in its group', 'attempt'),
  reward: ofRecord('reward of the episode', 'reward'),
  valid: ofRecord('no infrastructure failed', 'valid'),
  invalidReason: ofRecord('why the episode is not valid', 'invalidReason'),
  successTurn: ofRecord('turn that reached the goal', 'successTurn'),
  turns: ofRecord('complete calls of the episode', 'turns'),
  end: ofRecord('how the episode ended', 'end'),
  role: ofRecord('teacher, rollout, validation or evaluation', 'role'),
  round: ofRecord('round of the episode', 'round'),
  seconds: ofRecord('how long the episode took', 'seconds'),
  episode: ofEpisode('outcome', 'id of the episode', ({ id }) => id),
  noRecord: ofEpisode('outcome', 'why the episode has no outcome', ({ outcome }) => outcome.reason),

  advantage: ofSample('advantage of the call', ({ sample }) => sample?.advantage),
  u: ofSample('weight 1 / K of the call', ({ sample }) => sample?.u),
  L: ofSample('length of the response in the loss', ({ sample }) => sample?.responseLength),
  status: ofSample('what became of it as a sample', ({ sample }) => sample?.status),
  reason: ofSample('why it was not used', ({ sample }) => sample?.status.split(':')[1]),
  sample: ofSample('its line of samples.jsonl', ({ sample }) => sample),
  scores: ofSample('its lines of scores.jsonl, one a pass', ({ scores }) => scores),
  target: ofSample('its line of targets.jsonl, for a teacher', ({ target }) => target),
  group: ofEpisode('credit', 'the attempts at the same task and state: rewards, mean, ...', groupOf),
} satisfies Record<string, Fact>;

export const facts: Readonly<Record<string, Fact>> = FACTS;
/** All names. */
export const FACT_NAMES: readonly string[] = Object.keys(FACTS);

/** Parses an expression over these names. @throws ExpressionError */
export function parseCondition(text: string): Expression {
  return parseExpression(text, FACT_NAMES);
}

/** The finest thing that an expression asks about: where it changes its value. */
export function levelOf({ names }: Expression): FactLevel {
  const levels = names.map((name) => facts[name].level);
  return levels.includes('part') ? 'part' : levels.includes('call') ? 'call' : 'episode';
}

/** The value of an expression at a place. @throws ExpressionError when kinds of values do not fit. */
export async function valueAt(expression: Expression, place: FactPlace): Promise<unknown> {
  const values = new Map<string, unknown>();
  for (const name of expression.names) values.set(name, await facts[name].of(place));
  return expression.evaluate((name) => values.get(name) ?? null);
}

function lengthOfPrompt({ promptTokenIds, usage }: ResolvedCall): number | null {
  return promptTokenIds?.length ?? usage?.prompt_tokens ?? null;
}

/** Messages of a request; null for each that cannot be read. The list itself where all can. */
export function knownMessages(messages: readonly Message[]): readonly (Message | null)[] {
  if (!messages.includes(UNREAD_MESSAGE)) return messages;
  return messages.map((message) => (message === UNREAD_MESSAGE ? null : message));
}

/** Image parts of messages, with the number of their message. */
export function imagesOf(messages: readonly Message[]): Record<string, unknown>[] {
  return messages.flatMap(({ content }, message) =>
    Array.isArray(content)
      ? content
          .filter(({ type }) => type === 'image_ref')
          .map((part) => ({ message, ...part }) as Record<string, unknown>)
      : [],
  );
}

function lastScore(call: ReplayCall | null, field: 'logq' | 'logp' | 'w') {
  return statistics(call?.scores.at(-1)?.[field] ?? null);
}

function statistics(values: readonly number[] | null) {
  if (!values || values.length === 0) return null;
  const sum = values.reduce((a, b) => a + b, 0);
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  return { min: least, mean: sum / values.length, max: most, sum };
}

function groupOf({ group, lacking }: ReplayEpisode) {
  const rewards = group.filter(({ valid }) => valid).map(({ reward }) => reward);
  return {
    size: group.length,
    /** G of eq. 4. */
    valid: rewards.length,
    rewards,
    mean: rewards.length === 0 ? null : rewards.reduce((a, b) => a + b, 0) / rewards.length,
    best: rewards.length === 0 ? null : Math.max(...rewards),
    attempts: group,
    /** What the numbers above leave out. */
    ...(lacking.length > 0 ? { lacking } : {}),
  };
}
