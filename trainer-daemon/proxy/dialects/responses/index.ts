/** OpenAI's Responses API. */
import { type ApiError, apiErrorBody } from '../../api-error.ts';
import { namedEvent } from '../chat-reply.ts';
import type { Dialect } from '../contract.ts';
import { opened, reply } from './reply.ts';
import { toChat } from './request.ts';
import { ResponseEvents } from './stream.ts';

export const responsesDialect: Dialect = {
  surface: 'responses',
  namesCalls: true,
  paths: ['/v1/responses'],
  toChat,
  reply,
  stream: (context) => new ResponseEvents(context),
  error: (error) => ({ status: error.status, headers: { ...error.headers }, body: apiErrorBody(error) }),
  streamError(error, context, sent) {
    // Of a stream that has not begun nothing was told.
    const { model, created, output = [] } = (sent > 0 && context.soFar?.()) || {};
    return namedEvent('response.failed', {
      response: { ...opened(context, model, created), output, status: 'failed', error: errorOf(error) },
      sequence_number: sent,
    });
  },
};

function errorOf({ code, message }: ApiError) {
  return { code, message };
}
