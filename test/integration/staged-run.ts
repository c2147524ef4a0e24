/**
 * A recorded group with a robot in it: the embedded world and the harness's own tools, driven by a script in the planner's
 * place, and written by the store. Three attempts at putting the bowl on the plate: one does it, one drops it beside, one
 * is cut short by infrastructure.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message, ToolCall } from '../../protocol/chat.ts';
import type { SampleRecord } from '../../protocol/records.ts';
import { named } from '../../trainer-daemon/harnesses/tabletop-skills/observations.ts';
import { ToolExecution } from '../../trainer-daemon/harnesses/tabletop-skills/tool-execution.ts';
import { createRun } from '../../trainer-daemon/store/index.ts';
import { startEpisode } from '../../trainer-daemon/tabletop/index.ts';
import { call, episode, runInfo } from '../unit/trainer-daemon/store/runs.ts';

export const SECTION = 'rounds/0001';
const TASK = { suite: 'tabletop_goal_swap', task: 2, init: 42 };
type Step = [tool: string, given: Record<string, unknown>, reasoning: string];

const SCRIPTS: { steps: Step[]; reward: number; valid: boolean; advantage: number | null }[] = [
  {
    steps: [
      ['detect', {}, 'I look first.'],
      ['look', { camera: 'wrist' }, 'Where is the bowl?'],
      ['pick', { object: 'black-bowl', grasp: 'rim' }, 'I take black-bowl.'],
      ['place', { where: 'on', target: 'plate' }, 'It goes to plate.'],
      ['finish', { status: 'done' }, 'It is there.'],
    ],
    ...{ reward: 1, valid: true, advantage: 1 },
  },
  {
    steps: [
      ['detect', {}, 'I look first.'],
      ['pick', { object: 'white-bowl', grasp: 'rim' }, 'I take white-bowl.'],
      ['pick', { object: 'black-bowl', grasp: 'rim' }, 'I take black-bowl.'],
      ['release', {}, 'I let go.'],
      ['finish', { status: 'failed' }, 'It fell.'],
    ],
    ...{ reward: 0, valid: true, advantage: -1 },
  },
  { steps: [['detect', {}, 'I look first.']], ...{ reward: 0, valid: false, advantage: null } },
];

/** Of the attempts, in their order. */
export const EPISODES = SCRIPTS.map(
  (_, attempt) => `1f0c2ab9.r1.${TASK.suite}-${TASK.task}.i${TASK.init}.a${attempt}.0`,
);

export interface StagedOptions {
  /** Whether trajectories are kept. */
  trajectories?: boolean;
  /** Whether pictures are recorded. */
  pictures?: boolean;
}

/** Plays and records the group in a folder, which becomes a run's. @returns the world's own words on success, by attempt. */
export async function stagedRun(folder: string, options: StagedOptions = {}): Promise<boolean[]> {
  const { trajectories = true, pictures = true } = options;
  const run = await createRun(folder, { ...runInfo, name: 'staged' });
  const section = run.section(SECTION);
  const solved: boolean[] = [];
  const samples: SampleRecord[] = [];
  for (const [attempt, { steps, reward, valid, advantage }] of SCRIPTS.entries()) {
    const id = EPISODES[attempt];
    const world = await startEpisode({ ...TASK, noiseSeed: `stage ${attempt}` });
    const tools = new ToolExecution(world);
    const messages: Message[] = [
      { role: 'system', content: 'You drive a robot arm at a table with tools.' },
      { role: 'user', content: `Task: ${world.task.instruction}` },
    ];
    for (const [turn, [name, given, reasoning]] of steps.entries()) {
      const toolCall: ToolCall = {
        ...{ id: `call_${attempt}_${turn}`, type: 'function' },
        function: { name, arguments: JSON.stringify(given) },
      };
      const made = call({
        ...{ episode: id, turn, finishReason: 'tool_calls', durations: { firstToken: 40, total: 120 + 90 * turn } },
        request: { messages: [...messages], tools: null, other: {} },
        response: { content: null, reasoning, toolCalls: [toolCall] },
        promptTokenIds: Array.from({ length: 20 + 12 * turn }, (_, k) => k),
        responseTokenIds: Array.from({ length: 8 + 5 * turn }, (_, k) => k),
        logprobs: Array.from({ length: 8 + 5 * turn }, () => -0.25),
      });
      await section.appendCall(made);
      const chosen = advantage !== null && turn !== 1;
      samples.push({
        ...{ call: made.id, episode: id, advantage, u: chosen ? 1 / (steps.length - 1) : null },
        ...{ promptLength: 20 + 12 * turn, responseLength: 8 + 5 * turn },
        status: chosen ? 'selected' : advantage === null ? 'zero-weight:invalid-episode' : 'not-selected',
      });
      const answer = tools.run(name, JSON.stringify(given));
      messages.push({ role: 'assistant', content: null, reasoning_content: reasoning, tool_calls: [toolCall] });
      messages.push({ role: 'tool', tool_call_id: toolCall.id, content: answer.content });
      if (answer.image && pictures)
        messages.push({
          role: 'user',
          content: [
            { type: 'text', text: answer.content },
            { type: 'image_url', image_url: { url: answer.image } },
          ],
        });
    }
    solved.push(world.success());
    const outputDir = `${SECTION}/output/${id}`;
    mkdirSync(join(folder, outputDir), { recursive: true });
    const recorded = world.trajectory();
    const spans = recorded.spans.map((one) => (one.detections ? { ...one, detections: named(one.detections) } : one));
    if (trajectories) writeFileSync(join(folder, outputDir, 'trajectory.json'), JSON.stringify({ ...recorded, spans }));
    world.dispose();
    await section.appendEpisode({
      ...episode(id),
      ...{
        task: `${TASK.suite}/${TASK.task}`,
        init: TASK.init,
        attempt,
        reward,
        valid,
        turns: steps.length,
        outputDir,
      },
      ...{ invalidReason: valid ? null : 'the harness hung', successTurn: reward > 0 ? 3 : null },
      trajectory: trajectories ? 'trajectory.json' : null,
    });
  }
  await section.appendLines('samples.jsonl', samples);
  await run.journal({ type: 'run-finished', seconds: 3 });
  await run.close();
  return solved;
}
