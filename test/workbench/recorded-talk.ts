/** A recorded group of two attempts for tests of what the editor shows: images, tokens, scores, a long prompt, hostile text. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import type { Message } from '../../protocol/chat.ts';
import type { EpisodeRecord, ResolvedCall, RunInfo } from '../../protocol/records.ts';
import { renderPrompt, renderResponse } from '../../trainer-daemon/planner/chat-template.ts';
import { loadTokenizer } from '../../trainer-daemon/planner/tokenizer.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';
import { tinyPlanner } from '../unit/trainer-daemon/planner/tiny-planner.ts';

export const SECTION = 'rounds/0001';
/** The turn whose recorded prompt is another one than its messages make. */
export const MISMATCHED = 3;
export const EPISODES = ['1f0c2ab9.r1.tabletop_goal-3.i17.a0.0', '1f0c2ab9.r1.tabletop_goal-3.i17.a1.0'] as const;

const info: RunInfo = {
  ...{
    version: 1,
    id: '1f0c2ab9',
    name: 'talk',
    createdAt: '2026-01-01T00:00:00.000Z',
    config: {},
    configFolder: '/nowhere',
  },
  ...{ software: {}, adapterSha256: null, workspaceCommit: null },
};

interface Turn {
  reasoning: string;
  tool: string;
  given: string;
  result: string;
}

const SAME: Turn[] = [
  {
    reasoning: 'First I look where things are.',
    tool: 'detect',
    given: '{}',
    result: 'red-cube 41,-12 on table\nplate 30,8 on table',
  },
  {
    reasoning: 'The cube is\nat 41,-12: a top grasp.',
    tool: 'pick',
    given: '{"object":"red-cube","grasp":"top"}',
    result: 'held: red-cube',
  },
];
const TURNS: Turn[][] = [
  [
    ...SAME,
    {
      reasoning: 'Now to the plate.',
      tool: 'place',
      given: '{"target":"plate","where":"on"}',
      result: 'placed \u001b[31mred\u001b[0m \u202egnp.etalp',
    },
    {
      reasoning: 'That is all.',
      tool: 'finish',
      given: '{"status":"done"}',
      result: '[x](command:workbench.action.quit)',
    },
  ],
  [
    ...SAME,
    {
      reasoning: 'I put it beside.',
      tool: 'place',
      given: '{"target":"plate","where":"left"}',
      result: 'error: nothing is held',
    },
  ],
];

/** Writes the run into a folder. */
export async function recordTalk(folder: string): Promise<void> {
  const run = await createRun(folder, info);
  const section = run.section(SECTION);
  const planner = await tinyPlanner();
  const tokenizer = await loadTokenizer(planner);
  const picture = new PNG({ width: 64, height: 48 });
  for (let k = 0; k < picture.data.length; k += 4) picture.data.set([k % 255, 120, 200, 255], k);
  const url = `data:image/png;base64,${PNG.sync.write(picture).toString('base64')}`;
  const samples: object[] = [];
  const scores: object[] = [];
  for (const [attempt, id] of EPISODES.entries()) {
    const rules = Array.from({ length: 40 }, (_, k) => `Rule ${k}: check the result of every step.`).join('\n');
    const messages: Message[] = [
      { role: 'system', content: `You drive a robot arm.\n${rules}` },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Task: put the red cube on the plate' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ];
    for (const [turn, { reasoning, tool, given, result }] of TURNS[attempt].entries()) {
      const toolCalls = [{ id: `t${turn}`, type: 'function', function: { name: tool, arguments: given } }];
      const request = { messages: [...messages], tools: null };
      const response = {
        role: 'assistant' as const,
        content: null,
        reasoning_content: reasoning,
        tool_calls: toolCalls,
      };
      const ids = renderResponse(tokenizer, response, request);
      const prompt = renderPrompt(tokenizer, request);
      // The last prompt is not what the template makes of its messages.
      if (turn === MISMATCHED) prompt.splice(20, 2, ...tokenizer.encodeText('other words'));
      const logprobs = ids.map((_, k) => -[0.01, 0.2, 1.2, 3, 5.5][(k * 7 + turn) % 5]);
      const call: ResolvedCall = {
        ...{ id: `${id}.c${turn}`, episode: id, turn, surface: 'chat', policyVersion: 1 },
        request: { messages: [...messages], tools: null, other: { model: 'planner' } },
        ...{ samplingAsked: {}, samplingSent: { temperature: 1, seed: 7 + turn } },
        promptTokenIds: prompt,
        ...{
          responseTokenIds: ids,
          logprobs,
          response: { content: null, reasoning, toolCalls },
          finishReason: 'tool_calls',
        },
        ...{ usage: null, startedAt: '2026-01-01T00:00:00.000Z', durations: { firstToken: 40, total: 320 + turn } },
        ...{ status: 'complete', error: null, retryOf: null },
      };
      await section.appendCall(call);
      messages.push({ role: 'assistant', content: null, reasoning_content: reasoning, tool_calls: toolCalls });
      messages.push({ role: 'tool', tool_call_id: `t${turn}`, content: result });
      const status = turn === MISMATCHED ? 'zero-weight:prompt-mismatch' : 'selected';
      const lengths = { promptLength: call.promptTokenIds?.length ?? 0, responseLength: ids.length };
      const advantage = attempt === 0 ? 1 : -1;
      samples.push({
        call: call.id,
        episode: id,
        advantage,
        u: status === 'selected' ? 1 / 3 : null,
        ...lengths,
        status,
      });
      if (status === 'selected')
        scores.push({
          ...{
            call: call.id,
            pass: 0,
            step: 1,
            logq: logprobs,
            logp: logprobs.map((value, k) => value + (k % 3) * 0.3 - 0.3),
          },
          ...{ w: ids.map(() => 1), clipped: ids.map((_, k) => (k % 9 === 0 ? 2 : 0)) },
        });
    }
    const record: EpisodeRecord = {
      ...{ version: 1, id, role: 'rollout', round: 1, task: 'tabletop_goal/3', init: 17, attempt, tryNumber: 0 },
      ...{ reward: attempt === 0 ? 1 : 0, valid: true, invalidReason: null, successTurn: attempt === 0 ? 2 : null },
      ...{ policyVersion: 1, turns: TURNS[attempt].length, seconds: 3, end: 'exit', outputDir: null, trajectory: null },
      startedAt: '2026-01-01T00:00:00.000Z',
    };
    await section.appendEpisode(record);
  }
  await section.replaceLines('samples.jsonl', samples);
  await section.replaceLines('scores.jsonl', scores);
  await run.close();
  const policy = join(folder, 'policies/v0001');
  cpSync(planner, policy, { recursive: true });
  rmSync(join(policy, 'model.safetensors'));
}

/** An episode of so many calls, each with a request of its own of about 40 kB. Its id is `long`. */
export async function recordLong(folder: string, turns: number): Promise<void> {
  const run = await createRun(folder, info);
  const section = run.section(SECTION);
  for (let turn = 0; turn < turns; turn++) {
    const content = `Seen at ${turn}:\n${'some words of a long observation\n'.repeat(1200)}`;
    await section.appendCall({
      ...{ id: `long.c${turn}`, episode: 'long', turn, surface: 'chat', policyVersion: 1 },
      request: { messages: [{ role: 'user', content }], tools: null, other: {} },
      ...{
        samplingAsked: {},
        samplingSent: {},
        promptTokenIds: Array.from({ length: 10_000 }, (_, k) => (k * turn) % 997),
      },
      ...{ responseTokenIds: null, logprobs: null, response: { content: 'on', reasoning: null, toolCalls: [] } },
      ...{ finishReason: 'stop', usage: null, startedAt: '2026-01-01T00:00:00.000Z' },
      ...{ durations: { firstToken: 1, total: 2 }, status: 'complete', error: null, retryOf: null },
    });
  }
  await section.appendEpisode({
    ...{
      version: 1,
      id: 'long',
      role: 'rollout',
      round: 1,
      task: 'tabletop_goal/4',
      init: 17,
      attempt: 0,
      tryNumber: 0,
    },
    ...{ reward: 0, valid: true, invalidReason: null, successTurn: null, policyVersion: 1, turns, seconds: 3 },
    ...{ end: 'exit', outputDir: null, trajectory: null, startedAt: '2026-01-01T00:00:00.000Z' },
  });
  await run.close();
}
