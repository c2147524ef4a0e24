/** Which dialect a request speaks, where its episode key is, and the answers that are no calls. */
import type { IncomingHttpHeaders } from 'node:http';
import { chatDialect } from './chat.ts';
import { completionsDialect } from './completions.ts';
import type { Dialect } from './contract.ts';
import { messagesDialect } from './messages/index.ts';
import { responsesDialect } from './responses/index.ts';

const DIALECTS: readonly Dialect[] = [chatDialect, responsesDialect, messagesDialect, completionsDialect];

export const MODELS = '/v1/models';

/** The header that names an episode where the usual places for a key are taken. */
export const EPISODE_HEADER = 'x-agentic-robo-rl-episode';

/** The dialect that answers a path; for paths that none answers, the one whose errors the client understands. */
export function dialectOf(path: string, headers: IncomingHttpHeaders): Dialect {
  const fallback = speaksAnthropic(headers) ? messagesDialect : chatDialect;
  return DIALECTS.find(({ paths, count }) => paths.includes(path) || count?.path === path) ?? fallback;
}

function speaksAnthropic(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined;
}

export const SERVED = `POST ${DIALECTS.flatMap(({ paths, count }) => (count ? [...paths, count.path] : paths)).join(', ')} and GET ${MODELS}`;

/**
 * The keys that a request without one in its path carries; the first that is an episode's, open or closed, counts. The
 * header made for it decides alone where it is sent: clients have keys of their own in the usual places.
 */
export function keysIn(headers: IncomingHttpHeaders): string[] {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const named = headers[EPISODE_HEADER];
  const keys = named === undefined ? [bearer, headers['x-api-key']] : [named];
  return keys.filter((key) => typeof key === 'string');
}

/**
 * Body of a model list, or of one model when `id` is given, in the shape the client knows; undefined when there is no
 * such model.
 */
export function modelsReply(model: string, headers: IncomingHttpHeaders, id?: string): string | undefined {
  if (id !== undefined && id !== model) return undefined;
  if (speaksAnthropic(headers)) {
    const entry = { type: 'model', id: model, display_name: model, created_at: '1970-01-01T00:00:00Z' };
    return JSON.stringify(
      id === undefined ? { data: [entry], has_more: false, first_id: model, last_id: model } : entry,
    );
  }
  const entry = { id: model, object: 'model', created: 0, owned_by: 'agentic-robo-rl' };
  return JSON.stringify(id === undefined ? { object: 'list', data: [entry] } : entry);
}
