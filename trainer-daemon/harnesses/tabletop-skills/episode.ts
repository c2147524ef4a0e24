/** One episode: the loop between the planner and the world. It knows nothing of training. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { seedOf, sha256 } from '../../../protocol/random.ts';
import { startEpisode } from '../../tabletop/index.ts';
import type { Tabletop } from '../../tabletop/types.ts';
import { askModel, type ChatMessage, type Limit, LimitReached, ModelFailure } from './model-client.ts';
import { named } from './observations.ts';
import { ToolExecution } from './tool-execution.ts';
import { SYSTEM_PROMPT, TOOLS, taskMessage } from './tools.ts';

/** An episode as a line of the worker's input. Other fields are let be. */
export const episodeOrderSchema = z.object({
  task: z.string(),
  suite: z.string(),
  taskIndex: z.number().int().nonnegative(),
  init: z.number().int().nonnegative(),
  attempt: z.number().int().nonnegative(),
  /** Seeds perception's noise. */
  seed: z.number(),
  limits: z.object({
    turns: z.number().int().positive(),
    seconds: z.number().positive(),
    responseTokens: z.number().int().positive(),
    idleSeconds: z.number().positive(),
  }),
  /** Ends in `/v1`. */
  baseUrl: z.url(),
  apiKey: z.string(),
  model: z.string(),
  outputDir: z.string().min(1),
  /** `blank` keeps from the planner what its tools answered: what a planner can do without looking. */
  observations: z.enum(['full', 'blank']).default('full'),
  /**
   * `unsteady`: the arm now and then puts down beside where it was to, and does not notice; less often where the planner has
   * detected what it holds.
   */
  hand: z.enum(['steady', 'unsteady']).default('steady'),
});
export type EpisodeOrder = z.output<typeof episodeOrderSchema>;

/** What result.json holds. */
export interface EpisodeResult {
  task: string;
  init: number;
  attempt: number;
  /** The simulator's own check when the episode ended: the reward. */
  success: boolean;
  /** Turn after whose actions the goal held, and held until the end; null when it did not hold at the end. */
  successTurn: number | null;
  turns: number;
  end: 'finish' | 'no-tool-call' | Limit | 'model-failure' | 'world-failure';
  /** The planner's own word, never the reward. */
  finishStatus: 'done' | 'failed' | null;
  /** What failed that is not the planner: with this the episode counts for nothing. */
  failure: string | null;
  simulatedSeconds: number;
}

/** Plays an episode and leaves result.json, transcript.json and trajectory.json in `outputDir`. */
export async function playEpisode(order: EpisodeOrder): Promise<EpisodeResult> {
  const result: EpisodeResult = {
    task: order.task,
    init: order.init,
    attempt: order.attempt,
    success: false,
    successTurn: null,
    turns: 0,
    end: 'turn-limit',
    finishStatus: null,
    failure: null,
    simulatedSeconds: 0,
  };
  const messages: ChatMessage[] = [];
  const write = (name: string, value: unknown): Promise<void> =>
    writeFile(join(order.outputDir, name), JSON.stringify(value));
  await mkdir(order.outputDir, { recursive: true });
  let world: Tabletop | undefined;
  try {
    world = await startEpisode({
      suite: order.suite,
      task: order.taskIndex,
      init: order.init,
      noiseSeed: `${order.seed}`,
      hand: order.hand,
    });
    messages.push({ role: 'system', content: SYSTEM_PROMPT });
    messages.push({ role: 'user', content: taskMessage(world.task.instruction) });
    await converse(order, messages, world, result);
    result.success = world.success();
    result.simulatedSeconds = world.time;
    await write('trajectory.json', trajectoryOf(world));
  } catch (error) {
    result.end = 'world-failure';
    result.failure = (error as Error).message;
  } finally {
    world?.dispose();
  }
  if (!result.success) result.successTurn = null;
  await write('transcript.json', messages.map(withoutImages));
  // Last, so that a result stands for a whole folder.
  await write('result.json', result);
  return result;
}

async function converse(
  order: EpisodeOrder,
  messages: ChatMessage[],
  world: Tabletop,
  result: EpisodeResult,
): Promise<void> {
  const { limits } = order;
  const tools = new ToolExecution(world);
  const deadline = performance.now() + limits.seconds * 1000;
  while (result.turns < limits.turns) {
    const turn = result.turns;
    const endpoint = {
      ...order,
      responseTokens: limits.responseTokens,
      idleSeconds: limits.idleSeconds,
      deadline,
      requestName: sha256(JSON.stringify([order.outputDir, order.seed, turn])).slice(0, 32),
      seed: seedOf('planner request', order.seed, turn),
    };
    let reply: ChatMessage;
    try {
      reply = await askModel(endpoint, messages, TOOLS);
    } catch (error) {
      if (error instanceof LimitReached) result.end = error.limit;
      else if (error instanceof ModelFailure) {
        result.end = 'model-failure';
        result.failure = error.message;
      } else throw error;
      return;
    }
    messages.push(reply);
    result.turns++;
    if (!reply.tool_calls || reply.tool_calls.length === 0) {
      result.end = 'no-tool-call';
      return;
    }
    const pictures: ChatMessage[] = [];
    for (const call of reply.tool_calls) {
      const answer = tools.run(call.function.name, call.function.arguments);
      const blank = order.observations === 'blank';
      messages.push({ role: 'tool', tool_call_id: call.id, content: blank ? '' : answer.content });
      if (answer.image !== undefined && !blank) pictures.push(pictureMessage(answer.content, answer.image));
      if (world.success()) result.successTurn ??= turn;
      else result.successTurn = null;
      if (answer.finished) {
        result.end = 'finish';
        result.finishStatus = answer.finished;
        return;
      }
    }
    messages.push(...pictures);
  }
}

/** Tool messages hold text only; a picture follows them as the user's. */
function pictureMessage(text: string, url: string): ChatMessage {
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'image_url', image_url: { url } },
    ],
  };
}

/** The world's record, with the names that the planner was told. */
function trajectoryOf(world: Tabletop): unknown {
  const trajectory = world.trajectory();
  const spans = trajectory.spans.map((span) =>
    span.detections ? { ...span, detections: named(span.detections) } : span,
  );
  return { ...trajectory, spans };
}

function withoutImages(message: ChatMessage): ChatMessage {
  if (!Array.isArray(message.content)) return message;
  return {
    ...message,
    content: message.content.map((part) => (part.type === 'image_url' ? { type: 'text', text: '[image]' } : part)),
  };
}
