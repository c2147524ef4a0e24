/** Tools of a Responses request as chat tools. A custom tool (free text) becomes a function with one text. */
import { namedTool, withoutUndefined } from '../chat-parts.ts';
import type { RequestPart } from '../request-part.ts';

export interface ChatTool {
  type: 'function';
  function: { name: string } & Record<string, unknown>;
}

/** Tools that OpenAI's own servers carry out; a planner's server has none of them. */
const HOSTED = /^(web_search|file_search|code_interpreter|image_generation|mcp|programmatic_tool_calling|tool_search)/;

/** @throws RefusedRequest */
export function toolsOf(request: RequestPart): ChatTool[] {
  const tools = (request.partsIfAny('tools') ?? []).flatMap((tool) => toolFrom(tool, request));
  const names = new Set<string>();
  for (const { function: fn } of tools) {
    if (names.has(fn.name))
      throw request.refuse('tools', `names two tools "${fn.name}"; calls could not be told apart`);
    names.add(fn.name);
  }
  return tools;
}

function toolFrom(tool: RequestPart, request: RequestPart): ChatTool[] {
  const type = tool.text('type');
  if (type === 'function') return [functionTool(tool)];
  if (type === 'custom') return [customTool(tool)];
  if (type === 'namespace') {
    tool.text('name');
    const inside = tool.parts('tools').flatMap((each) => toolFrom(each, request));
    tool.keep('description');
    tool.end();
    return inside;
  }
  if (HOSTED.test(type)) {
    request.keepAndTell(`tools[${type}]`, tool.whole());
    return [];
  }
  throw tool.refuse('type', `is "${type}": only tools of type "function" and "custom" can be offered to the planner`);
}

function functionTool(tool: RequestPart): ChatTool {
  const name = tool.text('name');
  const parameters = tool.value('parameters');
  if (parameters !== undefined && (typeof parameters !== 'object' || Array.isArray(parameters)))
    throw tool.refuse('parameters', 'must be an object');
  const description = tool.textIfAny('description');
  const strict = tool.truthIfAny('strict');
  tool.keep('defer_loading', 'allowed_callers', 'output_schema');
  tool.end();
  return { type: 'function', function: { name, ...withoutUndefined({ description, parameters, strict }) } };
}

function customTool(tool: RequestPart): ChatTool {
  const name = tool.text('name');
  const description = tool.textIfAny('description') ?? '';
  const format = tool.partIfAny('format');
  const grammar = format?.text('type') === 'grammar';
  const rules = grammar
    ? `The input must follow this ${format.text('syntax')} grammar:\n${format.text('definition')}`
    : '';
  format?.end();
  tool.keep('defer_loading', 'allowed_callers');
  tool.end();
  return {
    type: 'function',
    function: {
      name,
      description: [description, rules].filter((each) => each !== '').join('\n\n'),
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    },
  };
}

/** @throws RefusedRequest */
export function toolChoice(request: RequestPart, tools: ChatTool[]): unknown {
  const choice = request.value('tool_choice');
  if (choice === undefined) return undefined;
  let chosen: unknown;
  if (choice === 'auto' || choice === 'none' || choice === 'required') chosen = choice;
  else if (typeof choice === 'string')
    throw request.refuse('tool_choice', 'must be "auto", "none", "required" or an object');
  else {
    const part = request.part('tool_choice');
    const type = part.text('type');
    if (type !== 'function' && type !== 'custom')
      throw part.refuse('type', `is "${type}": only a choice of one "function" or "custom" tool can be handed on`);
    chosen = namedTool(part.text('name'), tools, part.at('name'));
    part.end();
  }
  // Chat servers refuse a choice where there is nothing to choose.
  return tools.length > 0 ? chosen : undefined;
}

export interface OfferedTool {
  custom: boolean;
  namespace: string | undefined;
}

/** The tools of a request as received, by name; it was translated before, so its shape is known. */
export function offeredTools(received: Record<string, unknown>): Map<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>();
  const add = (tools: unknown, namespace: string | undefined) => {
    if (!Array.isArray(tools)) return;
    for (const { type, name, tools: inside } of tools) {
      if (type === 'namespace') add(inside, name);
      else if (type === 'function' || type === 'custom') offered.set(name, { custom: type === 'custom', namespace });
    }
  };
  add(received.tools, undefined);
  return offered;
}
