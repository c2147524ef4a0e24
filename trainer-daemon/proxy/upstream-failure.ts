/** When the planner's server fails: what is recorded of it and what the harness is told. */
import { type ApiError, apiError, excerpt } from './api-error.ts';
import { errorMessage, ReplyError } from './completion.ts';
import type { EpisodeOpening } from './contract.ts';
import { readBody, type UpstreamReply } from './upstreams/request.ts';
import { record } from './upstreams/shapes.ts';

const LARGEST_ERROR = 256 * 1024;

/** A failure on the upstream's side. */
export class UpstreamFailure extends Error {
  readonly status: number;
  readonly body: string | undefined;
  readonly contextLimit: boolean;
  /** Seconds or date after which the upstream wants to be asked again. */
  readonly retryAfter: string | undefined;

  constructor(
    message: string,
    status = 502,
    more: { body?: string; contextLimit?: boolean; retryAfter?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.body = more.body;
    this.contextLimit = more.contextLimit ?? false;
    this.retryAfter = more.retryAfter;
  }
}

/** What the harness is told: the failure as it is, or one that stops its retrying. */
export function clientError(failure: UpstreamFailure, manner: EpisodeOpening['onUpstreamFailure']): ApiError {
  if (failure.contextLimit)
    return apiError(400, 'context_length_exceeded', failure.message, { retry: false, body: failure.body });
  const message = `the planner's server failed: ${failure.message}`;
  if (manner === 'fail-fast') return apiError(424, 'upstream_failed', message, { retry: false });
  const { status, body, retryAfter } = failure;
  return apiError(status, 'upstream_failed', message, {
    body,
    headers: retryAfter === undefined ? undefined : { 'retry-after': retryAfter },
  });
}

/** An answer with a status other than 200. */
export async function refusal(answer: UpstreamReply, onBytes: () => void): Promise<UpstreamFailure> {
  const text = await readBody(answer.body, LARGEST_ERROR, onBytes);
  let body: string | undefined;
  let message = text.trim() === '' ? 'no body' : excerpt(text);
  let code: unknown;
  try {
    const parsed = record(JSON.parse(text));
    const error = parsed.error ?? (typeof parsed.message === 'string' ? parsed : undefined);
    if (error !== undefined) {
      message = errorMessage(error);
      code = record(error).code;
      if (typeof record(parsed.error).message === 'string') body = text;
    }
  } catch {
    // Not JSON: the text itself is the message.
  }
  const status = answer.status >= 400 && answer.status <= 599 ? answer.status : 502;
  const contextLimit =
    status < 500 &&
    (code === 'context_length_exceeded' || /maximum context length|context length|context window/i.test(message));
  return new UpstreamFailure(`HTTP ${answer.status}: ${excerpt(message)}`, status, {
    body,
    contextLimit,
    retryAfter: answer.headers['retry-after'],
  });
}

/** An error in one line, with its system code. */
export function describe(error: unknown): string {
  if (error instanceof ReplyError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error.message === '') return code ?? error.name;
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}
