/** OpenAI Chat Completions: the form that is sent on and recorded, so nothing is translated. */
import { chatRequestSchema } from '../../../protocol/chat.ts';
import { apiErrorBody } from '../api-error.ts';
import { formatEvent } from '../event-stream.ts';
import { type Dialect, RefusedRequest } from './contract.ts';
import { KNOWN_CHAT, unknownFields } from './known-fields.ts';
import { passedOn } from './request-part.ts';

export const chatDialect: Dialect = {
  surface: 'chat',
  paths: ['/v1/chat/completions'],
  toChat: (body) => {
    const chat = checkedChat(body);
    onlyOneChoice('n', chat.n);
    return { chat, untranslated: passedOn(unknownFields(chat, KNOWN_CHAT)) };
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

/** @throws RefusedRequest for any count but 1, written as text too: servers that are lenient would take it. */
export function onlyOneChoice(field: string, count: unknown): void {
  if (count === undefined || count === null || count === 1) return;
  throw new RefusedRequest(
    'one_choice_only',
    `${field} is ${JSON.stringify(count).slice(0, 40)}: each call is recorded as one response, so ${field} must be 1 (switch off the harness's ensembling)`,
  );
}
