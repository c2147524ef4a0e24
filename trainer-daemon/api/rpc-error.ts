/** Errors that a client is told, each with a code of the contract. */
import type { z } from 'zod';
import { DAEMON_ERRORS, type DaemonErrorName, type errorDataSchema } from '../../protocol/daemon.ts';

type ErrorData = Omit<z.output<typeof errorDataSchema>, 'kind'>;

/** What a method throws to answer with an error; anything else becomes `internal`. */
export class RpcError extends Error {
  readonly kind: DaemonErrorName;
  readonly data: ErrorData;

  constructor(kind: DaemonErrorName, message: string, data: ErrorData = {}) {
    super(message);
    this.kind = kind;
    this.data = data;
  }

  /** As it goes over the wire. */
  toJSON(): { code: number; message: string; data: ErrorData & { kind: string } } {
    return { code: DAEMON_ERRORS[this.kind], message: this.message, data: { ...this.data, kind: this.kind } };
  }
}
