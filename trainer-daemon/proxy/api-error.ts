/** Errors in the shape OpenAI clients understand: `{"error": {"message", "type", "code", "param"}}`. */

export interface ApiError {
  status: number;
  code: string;
  message: string;
  type: string;
  /** Extra reply headers, for example `x-should-retry: false` (read by the OpenAI SDKs). */
  headers?: Record<string, string>;
  /** An upstream's own OpenAI-shaped body, handed on as it came. */
  body?: string;
}

/** @param message for the person who reads the harness's log; names what happened and what to do, never a key or a prompt. */
export function apiError(
  status: number,
  code: string,
  message: string,
  options: { retry?: boolean; body?: string; headers?: Record<string, string> } = {},
): ApiError {
  const type =
    status >= 500 || status === 424
      ? 'server_error'
      : status === 401
        ? 'authentication_error'
        : 'invalid_request_error';
  return {
    status,
    code,
    message,
    type,
    headers: options.retry === undefined ? options.headers : { 'x-should-retry': String(options.retry) },
    body: options.body,
  };
}

export function apiErrorBody(error: ApiError): string {
  return (
    error.body ?? JSON.stringify({ error: { message: error.message, type: error.type, param: null, code: error.code } })
  );
}

/** A text cut to `limit` characters, for records and messages. */
export function excerpt(text: string, limit = 500): string {
  const flat = text.trim();
  return flat.length <= limit ? flat : `${flat.slice(0, limit)}... (${flat.length} characters)`;
}
