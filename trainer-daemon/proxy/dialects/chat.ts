/** OpenAI Chat Completions: the form that is sent on and recorded, so nothing is translated. */
import { chatRequestSchema } from '../../../protocol/chat.ts';
import { apiErrorBody } from '../api-error.ts';
import { formatEvent } from '../event-stream.ts';
import { type Dialect, RefusedRequest } from './contract.ts';
import { Untranslated } from './request-part.ts';

export const chatDialect: Dialect = {
  surface: 'chat',
  paths: ['/v1/chat/completions'],
  endpoint: '/chat/completions',
  toChat: (body) => {
    const chat = checkedChat(body);
    if (typeof chat.n === 'number' && chat.n > 1) throw severalChoices('n', chat.n);
    return { chat, untranslated: new Untranslated() };
  },
  reply: (completion) => JSON.stringify(completion),
  stream: () => ({
    push: (chunk) => [formatEvent(JSON.stringify(chunk))],
    end: () => [formatEvent('[DONE]')],
  }),
  error: (error) => ({ status: error.status, headers: { ...error.headers }, body: apiErrorBody(error) }),
  // OpenAI's clients raise on an event with an error.
  streamError: (error) => formatEvent(JSON.stringify(JSON.parse(apiErrorBody(error)))),
};

/** @throws RefusedRequest when the body is no chat-completions request. */
export function checkedChat(body: unknown): Record<string, unknown> {
  const checked = chatRequestSchema.safeParse(body);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new RefusedRequest('invalid_request', `${issue.path.join('.') || 'the request'}: ${issue.message}`);
  }
  return body as Record<string, unknown>;
}

export function severalChoices(field: string, count: number): RefusedRequest {
  return new RefusedRequest(
    'one_choice_only',
    `${field} is ${count}: each call is recorded as one response, so ${field} must be 1 (switch off the harness's ensembling)`,
  );
}
