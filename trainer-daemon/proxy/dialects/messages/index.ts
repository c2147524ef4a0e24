/** Anthropic's Messages API. */
import type { ApiError } from '../../api-error.ts';
import { namedEvent } from '../chat-reply.ts';
import type { Dialect } from '../contract.ts';
import { MessageStream, reply } from './reply.ts';
import { conversationToChat, THREAD_UNSUPPORTED, toChat } from './request.ts';

export const messagesDialect: Dialect = {
  surface: 'messages',
  namesCalls: true,
  paths: ['/v1/messages'],
  toChat,
  count: {
    path: '/v1/messages/count_tokens',
    toChat: conversationToChat,
    reply: ({ count, estimated }) => JSON.stringify({ input_tokens: count, ...(estimated ? { estimated } : {}) }),
  },
  reply,
  stream: (context) => new MessageStream(context),
  error: (error) => ({ status: error.status, headers: { ...error.headers }, body: JSON.stringify(bodyOf(error)) }),
  streamError: (error) => namedEvent('error', { error: bodyOf(error).error }),
};

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function bodyOf(error: ApiError) {
  const type =
    TYPES[error.status] ?? (error.status >= 500 || error.status === 424 ? 'api_error' : 'invalid_request_error');
  // The words by which Claude Code knows that it has to shorten the conversation.
  const message = error.code === 'context_length_exceeded' ? `prompt is too long: ${error.message}` : error.message;
  const details =
    error.code === THREAD_UNSUPPORTED ? { details: { error_code: error.code, unsupported: ['thread'] } } : {};
  return { type: 'error', error: { type, message, ...details } };
}
