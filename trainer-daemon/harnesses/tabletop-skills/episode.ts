/** One episode: the loop between the planner and the world. It knows nothing of training. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEpisode } from '../../tabletop/index.ts';
import { askModel, type ChatMessage, LimitReached, ModelFailure } from './model-client.ts';
import { ToolExecution } from './tool-execution.ts';
import { SYSTEM_PROMPT, TOOLS, taskMessage } from './tools.ts';

export interface EpisodeOrder {
  task: string;
  suite: string;
  taskIndex: number;
  init: number;
  attempt: number;
  seed: number;
  limits: { turns: number; seconds: number; responseTokens: number };
  baseUrl: string;
  apiKey: string;
  model: string;
  outputDir: string;
}

/** What result.json holds. */
export interface EpisodeResult {
  task: string;
  init: number;
  attempt: number;
  /** The simulator's own check when the episode ended. */
  success: boolean;
  /** Turn after whose actions the goal held for the first time and until the end; null when it did not hold at the end. */
  successTurn: number | null;
  turns: number;
  end: 'finish' | 'no-tool-call' | 'turn-limit' | 'time-limit' | 'context-full' | 'model-failure';
  /** The planner's own word, never the reward. */
  finishStatus: 'done' | 'failed' | null;
  failure: string | null;
  simulatedSeconds: number;
}

/** Plays an episode and leaves result.json, transcript.json and trajectory.json in `outputDir`. */
export async function playEpisode(order: EpisodeOrder): Promise<EpisodeResult> {
  const world = await startEpisode({
    suite: order.suite,
    task: order.taskIndex,
    init: order.init,
    noiseSeed: `${order.seed}`,
  });
  const messages: ChatMessage[] = [
    { role: 'system', content: SYSTEM_PROMPT },
    { role: 'user', content: taskMessage(world.task.instruction) },
  ];
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
  try {
    await converse(order, messages, new ToolExecution(world), result, () => world.success());
    result.success = world.success();
    if (!result.success) result.successTurn = null;
    result.simulatedSeconds = world.time;
    await mkdir(order.outputDir, { recursive: true });
    await writeFile(join(order.outputDir, 'trajectory.json'), JSON.stringify(world.trajectory()));
  } finally {
    world.dispose();
  }
  await writeFile(join(order.outputDir, 'transcript.json'), JSON.stringify(messages.map(withoutImages), null, 1));
  await writeFile(join(order.outputDir, 'result.json'), JSON.stringify(result, null, 1));
  return result;
}

async function converse(
  order: EpisodeOrder,
  messages: ChatMessage[],
  tools: ToolExecution,
  result: EpisodeResult,
  success: () => boolean,
): Promise<void> {
  const { limits } = order;
  const started = performance.now();
  while (result.turns < limits.turns) {
    const left = limits.seconds - (performance.now() - started) / 1000;
    if (left <= 0) {
      result.end = 'time-limit';
      return;
    }
    let reply: ChatMessage;
    try {
      reply = await askModel(
        { ...order, responseTokens: limits.responseTokens, timeoutSeconds: left },
        messages,
        TOOLS,
      );
    } catch (error) {
      if (error instanceof LimitReached) result.end = error.message === 'turn_limit' ? 'turn-limit' : 'context-full';
      else if (error instanceof ModelFailure) {
        result.end = 'model-failure';
        result.failure = error.message;
      } else throw error;
      return;
    }
    messages.push(reply);
    const turn = result.turns++;
    if (!reply.tool_calls || reply.tool_calls.length === 0) {
      result.end = 'no-tool-call';
      return;
    }
    for (const call of reply.tool_calls) {
      const answer = tools.run(call.function.name, call.function.arguments);
      messages.push({ role: 'tool', tool_call_id: call.id, content: answer.content });
      if (success()) result.successTurn ??= turn;
      else result.successTurn = null;
      if (answer.finished) {
        result.end = 'finish';
        result.finishStatus = answer.finished;
        return;
      }
    }
  }
}

function withoutImages(message: ChatMessage): ChatMessage {
  if (!Array.isArray(message.content)) return message;
  return {
    ...message,
    content: message.content.map((part) => (part.type === 'image_url' ? { type: 'text', text: '[image]' } : part)),
  };
}
