/** What the scripted expert makes of a transcript. It reads the messages alone, as a served model does. */
import type { Placed } from '../../../tabletop/relations.ts';
import type { GoalStep, Vec3 } from '../../../tabletop/types.ts';
import type { ChatMessage } from '../model-client.ts';

export interface SeenObject extends Placed {
  name: string;
  open?: boolean;
}

export interface PastCall {
  tool: string;
  arguments: Record<string, unknown>;
  /** The tool's answer as text. */
  answer: string;
}

const LINE = /^([a-z]+)_(\d+)((?: [a-z]+)*) x=(-?\d+) y=(-?\d+) z=(-?\d+)/;

/** Objects of a `detect` answer; positions in metres. */
export function readDetections(answer: string): SeenObject[] {
  return answer.split('\n').flatMap((line) => {
    const match = LINE.exec(line);
    if (!match) return [];
    const words = match[3].split(' ').filter((word) => word !== '');
    const open = words.includes('open') ? true : words.includes('shut') ? false : undefined;
    const position = [Number(match[4]) / 100, Number(match[5]) / 100, Number(match[6]) / 100] as Vec3;
    const colour = words.filter((word) => word !== 'open' && word !== 'shut').join(' ');
    return [{ name: `${match[1]}_${match[2]}`, kind: match[1], colour, position, ...(open !== undefined && { open }) }];
  });
}

/** Tool calls so far with their answers, in order. */
export function readCalls(messages: ChatMessage[]): PastCall[] {
  const answers = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'tool' && message.tool_call_id !== undefined)
      answers.set(message.tool_call_id, textOf(message));
  }
  return messages.flatMap((message) =>
    (message.tool_calls ?? []).map((call) => ({
      tool: call.function.name,
      arguments: parse(call.function.arguments),
      answer: answers.get(call.id) ?? '',
    })),
  );
}

/** The instruction of the first user message. */
export function readInstruction(messages: ChatMessage[]): string | undefined {
  const user = messages.find((message) => message.role === 'user');
  return user && /^Task: (.+)$/m.exec(textOf(user))?.[1];
}

function textOf(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => part.text ?? '').join('\n');
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const NEAR = 0.075;

/** Whether the perceived positions agree with a step being done. Undefined where they cannot tell. */
export function looksDone(
  step: GoalStep,
  object: SeenObject | undefined,
  target: SeenObject | undefined,
): boolean | undefined {
  if (!target) return undefined;
  if (step.kind === 'open' || step.kind === 'close')
    return target.open === undefined ? undefined : target.open === (step.kind === 'open');
  if (!object) return undefined;
  const dx = object.position[0] - target.position[0];
  const dy = object.position[1] - target.position[1];
  if (step.kind === 'beside') {
    const along = step.side === 'left' ? dy : step.side === 'right' ? -dy : step.side === 'front' ? -dx : dx;
    return along > 0.03 && Math.hypot(dx, dy) < 0.3 && object.position[2] < 0.15;
  }
  const reach = target.kind === 'cabinet' || target.kind === 'drawer' ? 0.13 : target.kind === 'basket' ? 0.1 : NEAR;
  return Math.hypot(dx, dy) < reach;
}
