/** The harness's only way to its model: an OpenAI-compatible chat-completions endpoint. */
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null | { type: string; text?: string; image_url?: { url: string } }[];
  reasoning_content?: string;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface ModelEndpoint {
  baseUrl: string;
  apiKey: string;
  model: string;
  responseTokens: number;
  /** performance.now() at which the episode's time is over. */
  deadline: number;
  /** An endpoint silent for longer than this has failed, where the time runs out. */
  idleSeconds: number;
  /** Names this request among the episode's; repeats of it share the name, so that a proxy can tell them. */
  requestName: string;
  seed: number;
}

export type Limit = 'turn-limit' | 'time-limit' | 'context-full' | 'closed';

/** No further reply will come because a limit of the episode or of the model's context is reached. */
export class LimitReached extends Error {
  readonly limit: Limit;

  constructor(limit: Limit) {
    super(limit);
    this.limit = limit;
  }
}
/** The endpoint failed; not the planner's fault. */
export class ModelFailure extends Error {}

const ATTEMPTS = 3;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const LARGEST_REPLY = 32 * 1024 * 1024;
const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };

/**
 * Asks for one response. As OpenAI's clients do, it asks again, twice, after a broken connection, a reply that is no
 * chat completion, or status 408, 409, 429 or 5xx, unless the endpoint says `x-should-retry: false`.
 * @throws LimitReached at a limit; ModelFailure when the endpoint keeps failing.
 */
export async function askModel(
  endpoint: ModelEndpoint,
  messages: ChatMessage[],
  tools: unknown[],
): Promise<ChatMessage> {
  const { model, responseTokens, seed } = endpoint;
  const body = JSON.stringify({ model, messages, tools, temperature: 1, max_tokens: responseTokens, seed });
  let failure = '';
  let pause = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(Math.max(0, Math.min(pause, endpoint.deadline - performance.now())));
    pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt);
    const left = endpoint.deadline - performance.now();
    if (left <= 0) break;
    const started = performance.now();
    let answer: Answer;
    try {
      answer = await post(endpoint, body, attempt, AbortSignal.timeout(Math.ceil(left)));
    } catch (error) {
      const waited = (performance.now() - started) / 1000;
      if (performance.now() < endpoint.deadline) failure = `no reply: ${describe(error)}`;
      else if (waited >= endpoint.idleSeconds) throw new ModelFailure(`no reply within ${Math.round(waited)} s`);
      else throw new LimitReached('time-limit');
      continue;
    }
    if (answer.status === 200) {
      const message = readMessage(answer.text, endpoint.requestName);
      if (message) return message;
      failure = 'the reply is no chat completion';
      continue;
    }
    const limit = limitOf(answer);
    if (limit) throw new LimitReached(limit);
    failure = `status ${answer.status}${answer.code === undefined ? '' : ` (${answer.code})`}`;
    const told = answer.headers['x-should-retry'];
    const passing = [408, 409, 429].includes(answer.status) || answer.status >= 500;
    if (told === 'false' || (told !== 'true' && !passing)) break;
    const wait = Number(answer.headers['retry-after']) * 1000;
    if (wait > 0 && wait <= 60_000) pause = wait;
  }
  if (failure === '') throw new LimitReached('time-limit');
  throw new ModelFailure(failure);
}

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  /** Of an error. */
  code?: string;
  message?: string;
}

/** Node's own client: fetch gives up after 300 s without headers, and large models may think longer. */
async function post(endpoint: ModelEndpoint, body: string, attempt: number, signal: AbortSignal): Promise<Answer> {
  const url = new URL(`${endpoint.baseUrl.replace(/\/$/, '')}/chat/completions`);
  const secure = url.protocol === 'https:';
  const request = (secure ? https : http).request(url, {
    method: 'POST',
    agent: secure ? agents['https:'] : agents['http:'],
    signal,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      authorization: `Bearer ${endpoint.apiKey}`,
      'idempotency-key': endpoint.requestName,
      'x-stainless-retry-count': String(attempt),
    },
  });
  request.end(body);
  const [response] = (await once(request, 'response', { signal })) as [http.IncomingMessage];
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > LARGEST_REPLY) throw new Error(`it is larger than ${LARGEST_REPLY} bytes`);
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, text, ...errorOf(text) };
}

function limitOf({ status, code, message = '' }: Answer): Limit | undefined {
  if (code === 'turn_limit') return 'turn-limit';
  if (code === 'episode_closed') return 'closed';
  const full = code === 'context_length_exceeded' || /context length|context window/i.test(message);
  return full && status < 500 ? 'context-full' : undefined;
}

function errorOf(text: string): { code?: string; message?: string } {
  try {
    const { code, message } = (JSON.parse(text) as { error?: { code?: unknown; message?: unknown } }).error ?? {};
    return { ...(typeof code === 'string' && { code }), ...(typeof message === 'string' && { message }) };
  } catch {
    return {};
  }
}

/** The message of a completion, with what later requests need of it. Undefined when it is none. */
function readMessage(text: string, requestName: string): ChatMessage | undefined {
  let message: Record<string, unknown> | undefined;
  try {
    message = (JSON.parse(text) as { choices?: { message?: Record<string, unknown> }[] }).choices?.[0]?.message;
  } catch {
    return undefined;
  }
  if (!message || typeof message !== 'object') return undefined;
  const reply: ChatMessage = {
    role: 'assistant',
    content: typeof message.content === 'string' ? message.content : null,
  };
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (typeof reasoning === 'string' && reasoning !== '') reply.reasoning_content = reasoning;
  if (Array.isArray(message.tool_calls) && message.tool_calls.length > 0) {
    reply.tool_calls = message.tool_calls.map((call, i) => {
      const { name, arguments: given } = call?.function ?? {};
      return {
        id: typeof call?.id === 'string' && call.id !== '' ? call.id : `call_${requestName.slice(0, 16)}_${i}`,
        type: 'function' as const,
        function: {
          // A call without a name is answered like one of an unknown tool.
          name: typeof name === 'string' ? name : '',
          arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
        },
      };
    });
  }
  return reply;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
