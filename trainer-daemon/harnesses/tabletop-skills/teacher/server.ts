/** The scripted expert behind a chat-completions endpoint, so that it is reached like any served model. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { chatRequestSchema } from '../../../../protocol/chat.ts';
import { sha256 } from '../../../../protocol/random.ts';
import type { ChatMessage } from '../model-client.ts';
import { answerAsExpert } from './expert.ts';
import type { Style } from './style.ts';

export const TEACHER_MODEL = 'tabletop-expert';
const LARGEST_BODY = 32 * 1024 * 1024;

/**
 * Starts the server on a free loopback port.
 * @param style of every episode; by default each episode has its own.
 */
export async function startTeacher(style?: Style): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    handle(request, response, style).catch((error: Error) => fail(response, 500, error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the teacher got no port');
  return { url: `http://127.0.0.1:${address.port}/v1`, server };
}

async function handle(request: IncomingMessage, response: ServerResponse, style: Style | undefined): Promise<void> {
  if (request.method === 'GET' && request.url === '/v1/models') {
    send(response, 200, {
      object: 'list',
      data: [{ id: TEACHER_MODEL, object: 'model', created: 0, owned_by: 'agentic-robo-rl' }],
    });
    return;
  }
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
    return fail(response, 404, 'no such endpoint');
  const body = await read(request);
  if (body === undefined) return fail(response, 413, 'the request is too large');
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return fail(response, 400, 'the request is not JSON');
  }
  const checked = chatRequestSchema.safeParse(json);
  if (!checked.success) return fail(response, 400, z.prettifyError(checked.error));
  const parsed: typeof checked.data & { seed?: unknown } = checked.data;
  const messages = parsed.messages as ChatMessage[];
  const seed = typeof parsed.seed === 'number' ? parsed.seed : undefined;
  const answer = answerAsExpert(messages, seed, style);
  // The id follows from the transcript, so that the same request gets the same reply.
  const mark = sha256(JSON.stringify(messages)).slice(0, 16);
  const message = {
    role: 'assistant' as const,
    content: null,
    reasoning_content: answer.reasoning,
    tool_calls: [
      {
        id: `call_${mark.slice(0, 8)}`,
        type: 'function' as const,
        function: { name: answer.tool, arguments: JSON.stringify(answer.arguments) },
      },
    ],
  };
  const usage = {
    prompt_tokens: words(JSON.stringify(messages)),
    completion_tokens: words(JSON.stringify(message)),
    total_tokens: 0,
  };
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  const common = { id: `chatcmpl-${mark}`, created: 0, model: TEACHER_MODEL };
  if (parsed.stream !== true) {
    send(response, 200, {
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage,
    });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: unknown, finish: string | null) =>
    response.write(
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  chunk({ role: 'assistant', reasoning_content: message.reasoning_content }, null);
  chunk({ tool_calls: message.tool_calls.map((call, index) => ({ index, ...call })) }, null);
  chunk({}, 'tool_calls');
  response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** A rough count; the teacher has no tokenizer. */
function words(text: string): number {
  return text.split(/\W+/).length;
}

async function read(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > LARGEST_BODY) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function fail(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else send(response, status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
}
