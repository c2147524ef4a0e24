/** What the scripted expert makes of a transcript. It reads the messages alone, as a served model does. */
import type { Placed } from '../../../tabletop/relations.ts';
import type { GoalStep, Vec3 } from '../../../tabletop/types.ts';
import type { ChatMessage } from '../model-client.ts';

export type DrawerState = 'open' | 'closed' | 'ajar';

export interface SeenObject extends Placed {
  name: string;
  /** Drawers only. */
  state?: DrawerState;
  /** What it was seen to be in or on. */
  support?: { how: 'in' | 'on'; name: string };
  held?: boolean;
}

export interface PastCall {
  tool: string;
  arguments: Record<string, unknown>;
  /** The tool's answer as text. */
  answer: string;
}

const LINE =
  /^(?<name>(?:(?<colour>[a-z]+)-)?(?<kind>[a-z]+)(?:-[A-Z]+)?)(?: (?<state>open|closed|ajar))? at (?<x>-?\d+),(?<y>-?\d+)(?: (?:(?<held>held)|(?<how>in|on) (?<support>[a-zA-Z-]+)))?/;

/** Objects of a `detect` answer; positions in metres, heights unknown (0). */
export function readDetections(answer: string): SeenObject[] {
  return answer.split('\n').flatMap((line) => {
    const found = LINE.exec(line)?.groups;
    if (!found) return [];
    const { colour = '', name, kind, state, x, y, held, how, support } = found;
    const position: Vec3 = [Number(x) / 100, Number(y) / 100, 0];
    const object: SeenObject = { name, kind, colour, position };
    if (state) object.state = state as DrawerState;
    if (held) object.held = true;
    if (how) object.support = { how: how as 'in' | 'on', name: support };
    return [object];
  });
}

/** Tool calls so far with their answers, in order. An answer belongs to the first unanswered call of its id. */
export function readCalls(messages: ChatMessage[]): PastCall[] {
  const calls: PastCall[] = [];
  let open: { id: string; call: PastCall }[] = [];
  for (const message of messages) {
    for (const { id, function: made } of message.tool_calls ?? []) {
      const call = { tool: made.name, arguments: parse(made.arguments), answer: '' };
      calls.push(call);
      open.push({ id, call });
    }
    if (message.role !== 'tool') continue;
    const asked = open.find(({ id }) => id === message.tool_call_id);
    if (!asked) continue;
    asked.call.answer = textOf(message);
    open = open.filter((other) => other !== asked);
  }
  return calls;
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

/** Whether what was seen agrees with a step being done. Undefined where it cannot tell. */
export function looksDone(
  step: GoalStep,
  object: SeenObject | undefined,
  target: SeenObject | undefined,
): boolean | undefined {
  if (!target) return undefined;
  if (step.kind === 'open' || step.kind === 'close')
    return target.state && target.state === (step.kind === 'open' ? 'open' : 'closed');
  if (!object) return undefined;
  if (step.kind !== 'beside')
    return object.support?.how === (step.kind === 'inside' ? 'in' : 'on') && object.support.name === target.name;
  if (object.held || object.support) return false;
  const dx = object.position[0] - target.position[0];
  const dy = object.position[1] - target.position[1];
  const [along, across] = { left: [dy, dx], right: [-dy, dx], front: [-dx, dy], behind: [dx, dy] }[step.side!];
  return along > 0.05 && along < 0.26 && Math.abs(across) < 0.07;
}
