/** What a planner's response set going: its tool calls, or the code it wrote, with what came back of each. */
import type { Message, ToolCall } from '../../protocol/chat.ts';
import type { ResolvedCall } from '../../protocol/records.ts';

/** A tool call of a response, or a cell of code in its text. */
export interface ReplayAction {
  kind: 'tool' | 'cell';
  /** Place among the actions of the call, from 0. */
  index: number;
  /** The tool's name; the language of a cell, `code` where it names none. */
  name: string;
  /** Id that the result refers to; empty for a cell. */
  id: string;
  /** As the planner wrote them; a cell's code. */
  argumentText: string;
  /** The arguments where they are a JSON object; null where they are not, and for a cell. */
  arguments: Record<string, unknown> | null;
  /** The code that the planner wrote: a cell's, or the argument of a tool that takes code. */
  code: string | null;
  /** What was told to the planner about it; null when nothing was (yet). */
  result: string | null;
  /** The messages that told it. */
  answers: readonly Message[];
  /** The result reports that the call was refused or failed. */
  failed: boolean;
  /** The result holds an exception that the planner's code raised. */
  exception: boolean;
  /** Entry of the trajectory's spans that this action is; null when it moved nothing or is not recorded. */
  span: number | null;
}

/** Arguments that hold code, where their value is a text. */
const CODE_ARGUMENTS = ['code', 'source', 'script', 'program', 'python'];
const FENCE = /^```([A-Za-z0-9_+-]*)[^\n]*\n([\s\S]*?)^```[ \t]*$/gm;
const EXCEPTION = /^\s*Traceback \(most recent call last\)|^\w*(?:Error|Exception)(?::|$)/m;
/**
 * What the skills of the embedded tabletop world answer when they did not do what they were asked for, followed by the state
 * of the hand: `slipped; gripper empty`. The arm may have moved.
 */
const SKILL_FAILURE =
  /^(?:slipped|nothing-between-fingers|unreachable|blocked|not-holding|already-holding|handle-missed|timeout); (?:gripper empty|holding)$/;
const FAILURE = /^\s*(?:error|failed|failure)\b/i;

/**
 * The actions of a call.
 * @param next messages of the following call, where the results are; null when there is none.
 * @param shared messages of `next` that lie before the response and its results (those of this call's request).
 */
export function actionsOf(
  call: Pick<ResolvedCall, 'response'>,
  next: readonly Message[] | null,
  shared: number,
): ReplayAction[] {
  const { response } = call;
  if (!response) return [];
  const news = next?.slice(shared) ?? [];
  if (response.toolCalls.length > 0) return response.toolCalls.map((tool, index) => toolAction(tool, index, news));
  const cells = [...(response.content ?? '').matchAll(FENCE)];
  const told = news.filter(({ role }) => role === 'user' || role === 'tool');
  return cells.map(([, language, code], index) => {
    // One answer to all cells of a response is the answer to the last one.
    const answers = cells.length === told.length ? [told[index]] : index === cells.length - 1 ? told : [];
    return {
      ...{ kind: 'cell', index, name: language || 'code', id: '', argumentText: code, arguments: null, code },
      ...{ ...judged(answers), span: null },
    };
  });
}

function toolAction({ id, function: { name, arguments: text } }: ToolCall, index: number, news: Message[]) {
  const given = parseArguments(text);
  const answer = news.find((message) => message.role === 'tool' && message.tool_call_id === id);
  const key = given && CODE_ARGUMENTS.find((one) => typeof given[one] === 'string');
  return {
    ...{ kind: 'tool' as const, index, name, id, argumentText: text, arguments: given },
    ...{ code: key ? (given[key] as string) : null, ...judged(answer ? [answer] : []), span: null },
  };
}

/** Arguments as an object; null when they are none. */
export function parseArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The words of a message; its images are named, not shown. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => part.text ?? (part.type.includes('image') ? '[image]' : `[${part.type}]`))
    .join('\n');
}

/** A skill of the embedded world was carried out and failed, other than a call that was refused. */
export function skillFailed(result: string | null): boolean {
  return result !== null && SKILL_FAILURE.test(result.trim());
}

/** Harnesses have no common word for a failure: ours says `error: ...` or a skill's code, others answer `{"error": ...}` or a traceback. */
function judged(answers: readonly Message[]): Pick<ReplayAction, 'result' | 'answers' | 'failed' | 'exception'> {
  if (answers.length === 0) return { result: null, answers, failed: false, exception: false };
  const result = answers.map(textOf).join('\n');
  const exception = EXCEPTION.test(result);
  const object = result.trimStart().startsWith('{') ? parseArguments(result) : null;
  const told = object !== null && ((object.error ?? null) !== null || object.ok === false || object.success === false);
  return { result, answers, failed: exception || told || FAILURE.test(result) || skillFailed(result), exception };
}
