/** An error that goes back to the client as OpenAI's servers write it: `{error: {message, type, param, code}}`. */
export class ApiError extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, details: { param?: string; code?: string } = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.param = details.param ?? null;
    this.code = details.code ?? null;
  }

  get type(): string {
    if (this.status >= 500) return 'server_error';
    return this.status === 401 ? 'authentication_error' : 'invalid_request_error';
  }

  /** The response body. */
  toBody(): object {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } };
  }
}
