/**
 * OpenAI's plain Completions: a text goes on where it stops. It is sent to the upstream's own /completions, because a
 * chat server would wrap the text in its template; in the record the text stands as one user message. The trainer's
 * template cannot make such a prompt, so these calls are not trained on. A server that only chats (the embedded planner)
 * is sent that user message: then the call is a chat like any other.
 */
import { formatEvent } from '../event-stream.ts';
import { chatDialect, checkedChat, onlyOneChoice } from './chat.ts';
import { object } from './chat-reply.ts';
import { type Dialect, RefusedRequest } from './contract.ts';
import { KNOWN_COMPLETION, unknownFields } from './known-fields.ts';
import { passedOn, RequestPart, Untranslated } from './request-part.ts';

export const completionsDialect: Dialect = {
  ...chatDialect,
  surface: 'completions',
  paths: ['/v1/completions'],
  toChat(body) {
    const request = new RequestPart(body, '', new Untranslated());
    for (const field of ['n', 'best_of']) onlyOneChoice(field, request.value(field));
    if (request.truthIfAny('echo') === true) throw request.refuse('echo', 'is not supported: leave it out');
    if (request.value('suffix') !== undefined) throw request.refuse('suffix', 'is not supported: leave it out');
    const top = request.numberIfAny('logprobs');
    const { prompt: _, logprobs: __, ...rest } = request.whole();
    const content = promptIn(request);
    const wanted = top === undefined ? {} : { logprobs: true, top_logprobs: top };
    const chat = checkedChat({ ...rest, messages: [{ role: 'user', content }], ...wanted });
    return { chat, untranslated: passedOn(unknownFields(body, KNOWN_COMPLETION)) };
  },
  own: {
    endpoint: '/completions',
    untrainable: 'a plain completion: its prompt is no chat, so the chat template cannot make it',
    toUpstream({ messages, tools: _, logprobs, top_logprobs, ...rest }) {
      const prompt = (messages as { content: string }[])[0].content;
      // A number here: how many more tokens are told at each place.
      return { ...rest, prompt, ...(logprobs === true ? { logprobs: top_logprobs ?? 0 } : {}) };
    },
    fromUpstream(reply) {
      const { choices, ...root } = object(reply);
      if (!Array.isArray(choices)) return reply;
      return { ...root, choices: choices.map(toChatChoice) };
    },
  },
  reply: (completion) => JSON.stringify(toCompletion(completion)),
  stream: () => ({
    push: (chunk) => [formatEvent(JSON.stringify(toCompletion(chunk)))],
    end: () => [formatEvent('[DONE]')],
  }),
};

function promptIn(request: RequestPart): string {
  const prompt = request.value('prompt');
  if (typeof prompt === 'string') return prompt;
  if (Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] === 'string') return prompt[0];
  if (Array.isArray(prompt) && prompt.length > 0 && prompt.flat().every(Number.isInteger))
    throw new RefusedRequest(
      'invalid_request',
      'prompt must be a text: token ids cannot be recorded as the conversation that samples are built from; send the text they stand for',
    );
  throw new RefusedRequest('invalid_request', 'prompt must be one text: each call is recorded as one response');
}

/** A choice with text as one with a message, which is also its delta. */
function toChatChoice(value: unknown): Record<string, unknown> {
  const { text, logprobs, ...choice } = object(value);
  const message = { role: 'assistant', content: typeof text === 'string' ? text : '' };
  const { tokens, token_logprobs: values, top_logprobs: top } = object(logprobs);
  if (!Array.isArray(tokens) || !Array.isArray(values)) return { ...choice, message, delta: message, logprobs };
  const content = tokens.map((token, i) => ({
    token,
    logprob: values[i],
    top_logprobs: Object.entries(object(Array.isArray(top) ? top[i] : undefined)).map(([token, logprob]) => ({
      token,
      logprob,
    })),
  }));
  return { ...choice, message, delta: message, logprobs: { content } };
}

function toCompletion(chat: Record<string, unknown>): Record<string, unknown> {
  const choices = Array.isArray(chat.choices) ? chat.choices.map(object) : [];
  return {
    ...chat,
    object: 'text_completion',
    choices: choices.map(({ message, delta, logprobs, ...choice }) => ({
      ...choice,
      text: object(message ?? delta).content ?? '',
      logprobs: toPlainLogprobs(logprobs),
    })),
  };
}

function toPlainLogprobs(logprobs: unknown): Record<string, unknown> | null {
  const { content } = object(logprobs);
  if (!Array.isArray(content)) return null;
  const entries = content.map(object);
  let end = 0;
  return {
    tokens: entries.map(({ token }) => token),
    token_logprobs: entries.map(({ logprob }) => logprob),
    top_logprobs: entries.map(({ top_logprobs: top }) =>
      Object.fromEntries((Array.isArray(top) ? top.map(object) : []).map((each) => [each.token, each.logprob])),
    ),
    text_offset: entries.map(({ token }) => {
      const start = end;
      end += String(token).length;
      return start;
    }),
  };
}
