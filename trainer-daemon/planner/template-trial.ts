/** A chat template tried out when it is loaded, so that its faults are told then, and to its owner. */
import type { Message, ResponseMessage, Tool } from '../../protocol/chat.ts';
import { PromptError, renderPrompt, renderResponse } from './chat-template.ts';
import { CheckpointError } from './checkpoint-error.ts';
import { syntaxProblem } from './template-lines.ts';
import type { TemplateSource } from './template-source.ts';
import type { PlannerTokenizer } from './tokenizer.ts';

/** Something that will surprise, though the checkpoint can be used. */
export interface CheckpointWarning {
  file: string;
  message: string;
  line?: number;
}

/** Words that stand nowhere in a template of their own. */
const SHOWN = {
  'the system message': 'aqsystem',
  "the user's message": 'aquser',
  'the tools offered': 'aqtool',
  'tool calls of earlier turns': 'aqvalue',
  'results of tools': 'aqresult',
};
const TOOLS: Tool[] = [
  {
    type: 'function',
    function: {
      name: 'aqtool',
      description: 'Moves.',
      parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    },
  },
];
const ANSWER: ResponseMessage = {
  role: 'assistant',
  content: 'aqtext',
  reasoning_content: 'aqreason',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'aqtool', arguments: '{"to": "aqvalue"}' } }],
};
const SYSTEM: Message = { role: 'system', content: 'aqsystem' };
const USER: Message = { role: 'user', content: 'aquser' };
const EPISODE: Message[] = [
  SYSTEM,
  USER,
  ANSWER as Message,
  { role: 'tool', tool_call_id: 'call_1', content: 'aqresult' },
];

/**
 * Parses a tokenizer's chat template and renders small conversations with it.
 * @returns what it cannot do, though it renders a user's message.
 * @throws CheckpointError when it is no template, or renders no user's message.
 */
export function tryTemplate(tokenizer: PlannerTokenizer, source: TemplateSource): CheckpointWarning[] {
  const { file, ownFile } = source;
  const place = (line: number | undefined) => ({
    line: ownFile ? line : undefined,
    subject: ownFile || line === undefined ? 'the chat template' : `chat_template, line ${line} of its text,`,
  });
  const refuse = (predicate: string, line?: number) => {
    const { line: inFile, subject } = place(line);
    return new CheckpointError(file, `${subject} ${predicate}; copy it from the checkpoint again`, inFile);
  };
  const broken = syntaxProblem(source.text);
  if (broken) throw refuse(`is broken: ${broken.message}`, broken.line);

  const prompt = attempt(() => renderPrompt(tokenizer, { messages: [USER] }));
  // Some insist on a system message.
  const other =
    prompt instanceof PromptError ? attempt(() => renderPrompt(tokenizer, { messages: [SYSTEM, USER] })) : prompt;
  if (prompt instanceof PromptError && other instanceof PromptError) {
    throw refuse(`cannot render a user's message: ${prompt.reason}`, prompt.line);
  }
  if (!tokenizer.decode(other as number[]).includes('aquser')) throw refuse("leaves out the user's message");

  const warnings: CheckpointWarning[] = [];
  const warn = (predicate: string, line?: number) => {
    const { line: inFile, subject } = place(line);
    warnings.push({ file, message: `${subject} ${predicate}`, ...(inFile === undefined ? {} : { line: inFile }) });
  };
  const episode = attempt(() => renderPrompt(tokenizer, { messages: EPISODE, tools: TOOLS }));
  if (episode instanceof PromptError) {
    warn(
      `cannot render a conversation with a system message, tools and their results (${episode.reason}); a harness that needs them will have its requests refused`,
      episode.line,
    );
  } else {
    const text = tokenizer.decode(episode);
    const lost = Object.entries(SHOWN).filter(([, word]) => !text.includes(word));
    if (lost.length > 0) warn(`does not show the planner ${lost.map(([what]) => what).join(', ')}`);
  }
  const target = attempt(() => renderResponse(tokenizer, ANSWER, { messages: [SYSTEM, USER], tools: TOOLS }));
  if (target instanceof PromptError && !(episode instanceof PromptError)) {
    warn(`cannot write a teacher's answers as training targets: ${target.reason}`, target.line);
  }
  return warnings;
}

function attempt(render: () => number[]): number[] | PromptError {
  try {
    return render();
  } catch (error) {
    if (error instanceof PromptError) return error;
    throw error;
  }
}
