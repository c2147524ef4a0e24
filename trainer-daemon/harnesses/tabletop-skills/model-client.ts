/** The harness's only way to its model: an OpenAI-compatible chat-completions endpoint. */

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
  /** Longest wait for one reply. */
  timeoutSeconds: number;
}

/** The endpoint told that no further reply will come: a limit of the episode or of the model's context. */
export class LimitReached extends Error {}
/** The endpoint failed; not the planner's fault. */
export class ModelFailure extends Error {}

const ATTEMPTS = 3;

/**
 * Asks for one response.
 * @throws LimitReached at a turn limit or a full context, ModelFailure when the endpoint keeps failing.
 */
export async function askModel(
  endpoint: ModelEndpoint,
  messages: ChatMessage[],
  tools: unknown[],
): Promise<ChatMessage> {
  let failure = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${endpoint.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${endpoint.apiKey}`,
          ...(attempt > 0 && { 'x-stainless-retry-count': String(attempt) }),
        },
        body: JSON.stringify({
          model: endpoint.model,
          messages,
          tools,
          temperature: 1,
          max_tokens: endpoint.responseTokens,
        }),
        signal: AbortSignal.timeout(Math.ceil(endpoint.timeoutSeconds * 1000)),
      });
      text = await response.text();
    } catch (error) {
      failure = `no reply: ${(error as Error).message}`;
      continue;
    }
    if (response.ok) {
      const message = readMessage(text);
      if (message) return message;
      failure = 'the reply is no chat completion';
      continue;
    }
    const code = errorCode(text);
    if (code === 'turn_limit' || code === 'context_length_exceeded') throw new LimitReached(code);
    failure = `status ${response.status}${code ? ` (${code})` : ''}`;
    if (
      response.headers.get('x-should-retry') === 'false' ||
      (response.status < 500 && response.status !== 429 && response.status !== 408)
    )
      break;
  }
  throw new ModelFailure(failure);
}

function readMessage(text: string): ChatMessage | undefined {
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
    reply.tool_calls = message.tool_calls
      .filter((call) => typeof call?.function?.name === 'string')
      .map((call, i) => ({
        id: typeof call.id === 'string' ? call.id : `call_${i}`,
        type: 'function' as const,
        function: {
          name: call.function.name,
          arguments:
            typeof call.function.arguments === 'string'
              ? call.function.arguments
              : JSON.stringify(call.function.arguments ?? {}),
        },
      }));
  }
  return reply;
}

function errorCode(text: string): string | undefined {
  try {
    const code = (JSON.parse(text) as { error?: { code?: unknown } }).error?.code;
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
