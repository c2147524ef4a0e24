/**
 * The language client, but for what it shows: a server that does not start is told once, by who starts it. By itself the
 * client shows a notification for each thing that goes wrong on the way, and starts a program that ends at once again and
 * again.
 */
import {
  CloseAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
} from 'vscode-languageclient/node';

export class QuietClient extends LanguageClient {
  /** Whether the server has started once. */
  begun = false;
  private starting = false;

  override async start(): Promise<void> {
    this.starting = true;
    try {
      await super.start();
      this.begun = true;
    } finally {
      this.starting = false;
    }
  }

  override error(message: string, data?: unknown, show?: boolean | 'force'): void {
    super.error(message, data, this.begun && !this.starting ? show : false);
  }
}

/** A client that has not been started. */
export function quietClient(
  id: string,
  name: string,
  server: ServerOptions,
  options: LanguageClientOptions,
): QuietClient {
  const errorHandler: ErrorHandler = {
    error: (...failed) => usual.error(...failed),
    closed: () => (client.begun ? usual.closed() : { action: CloseAction.DoNotRestart, handled: true }),
  };
  // By itself it shows the reason a second time.
  const initializationFailedHandler = () => false;
  const client = new QuietClient(id, name, server, { ...options, errorHandler, initializationFailedHandler });
  const usual = client.createDefaultErrorHandler();
  return client;
}
