/** Recordings made by hand, for the tests of replay: a group of attempts with tool calls, code, scores and a trajectory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../../../protocol/chat.ts';
import type { ResolvedCall, SampleRecord, ScoreRecord } from '../../../../protocol/records.ts';
import { createRun, type RunStore } from '../../../../trainer-daemon/store/index.ts';
import { call, episode, runInfo, temporaryFolder } from '../../trainer-daemon/store/runs.ts';

export const SECTION = 'rounds/0001';

/** What a planner did in a turn, and what it was told. */
export interface Turn {
  tools?: [name: string, given: unknown, result?: string][];
  content?: string;
  /** What follows as the user's word: the answer to code in `content`. */
  answer?: string;
  fields?: Partial<ResolvedCall>;
}

/** The calls of an episode, each with the transcript so far. */
export function callsOf(id: string, turns: Turn[]): ResolvedCall[] {
  const messages: Message[] = [
    { role: 'system', content: 'You move things.' },
    { role: 'user', content: 'put the red cube on the plate' },
  ];
  return turns.map(({ tools = [], content = null, answer, fields }, turn) => {
    const toolCalls = tools.map(([name, given], k) => ({
      id: `t${turn}.${k}`,
      type: 'function',
      function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
    }));
    const made = call({
      episode: id,
      turn,
      request: { messages: [...messages], tools: null, other: { model: 'planner' } },
      promptTokenIds: messages.flatMap((_, k) => [10 + k, 11]),
      response: { content, reasoning: `thought ${turn}`, toolCalls },
      finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
      ...fields,
    });
    messages.push({ role: 'assistant', content, tool_calls: toolCalls });
    tools.forEach(([, , result], k) => {
      if (result !== undefined) messages.push({ role: 'tool', tool_call_id: `t${turn}.${k}`, content: result });
    });
    if (answer !== undefined) messages.push({ role: 'user', content: answer });
    return made;
  });
}

/** The turns of the attempt that most tests look at. */
export const TURNS: Turn[] = [
  { tools: [['detect', {}, 'red-cube\nplate']] },
  {
    tools: [
      ['pick', { object: 'red-cube', grasp: 'side' }, 'error: grasp must be top or rim'],
      ['pick', { object: 'red-cube', grasp: 'top' }, 'held'],
    ],
  },
  { tools: [['place', { target: 'plate', where: 'on' }, 'placed']] },
  { tools: [['finish', { status: 'done' }]] },
];

export const SPANS = [
  { name: 'detect', start: 0, end: 0, held: null },
  { name: 'pick', start: 0, end: 1.5, held: 'red_cube' },
  { name: 'place', start: 1.5, end: 2.75, held: null },
];

/** A run with a group of three attempts (`e0` succeeds, `e1` fails, `e2` is invalid) with samples and scores. */
export async function recordedGroup(
  change: { turns?: Turn[]; more?: (run: RunStore, folder: string) => Promise<void> } = {},
): Promise<string> {
  const folder = temporaryFolder();
  const run = await createRun(folder, runInfo);
  const section = run.section(SECTION);
  const turns = change.turns ?? TURNS;
  const calls = [...callsOf('e0', turns), ...callsOf('e1', turns.slice(0, 2)), ...callsOf('e2', turns.slice(0, 1))];
  for (const one of calls) await section.appendCall(one);
  const outputDir = `${SECTION}/output/e0`;
  mkdirSync(join(folder, outputDir), { recursive: true });
  writeFileSync(join(folder, outputDir, 'trajectory.json'), JSON.stringify({ version: 1, spans: SPANS }));
  await section.appendEpisode({
    ...episode('e0'),
    ...{ turns: turns.length, successTurn: 2, outputDir, trajectory: 'trajectory.json' },
  });
  await section.appendEpisode({ ...episode('e1'), attempt: 1, reward: 0, turns: 2, end: 'turn-limit' });
  await section.appendEpisode({
    ...episode('e2'),
    ...{ attempt: 2, reward: 0, valid: false, invalidReason: 'the arm lost power', end: 'crash' },
  });
  await section.appendEpisode({ ...episode('elsewhere'), init: 12 });
  const samples = calls.map(({ id, episode: of, turn, responseTokenIds, promptTokenIds }): SampleRecord => {
    const lengths = { promptLength: promptTokenIds?.length ?? null, responseLength: responseTokenIds?.length ?? null };
    if (of === 'e2')
      return { call: id, episode: of, advantage: null, u: null, ...lengths, status: 'ineligible:invalid' };
    const selected = turn !== 3;
    return {
      ...{ call: id, episode: of, advantage: of === 'e0' ? 1 : -1, u: selected ? 1 / 3 : null, ...lengths },
      status: selected ? 'selected' : 'zero-weight:prompt-mismatch',
    };
  });
  await section.replaceLines('samples.jsonl', samples);
  const scores = samples
    .filter(({ status }) => status === 'selected')
    .flatMap((sample, k): ScoreRecord[] =>
      [0, 1].map((pass) => ({
        ...{ call: sample.call, pass, step: 1 + pass, logq: [-0.3, -1.6], logp: [-0.2 - pass / 10, -1.5] },
        ...{ w: [0.95, 0.9 + k / 100], clipped: [0, pass === 1 ? 2 : 0] },
      })),
    );
  await section.replaceLines('scores.jsonl', scores);
  await change.more?.(run, folder);
  await run.close();
  return folder;
}
