/** The planners that a folder's daemon serves, kept up to date by it. Knows nothing of VS Code. */
import type { Served } from '../../protocol/daemon.ts';
import type { DaemonClient } from '../daemon/client.ts';
import { type Disposable, Emitter } from '../daemon/emitter.ts';

export class ServedList implements Disposable {
  private readonly emitter: Emitter<Served[]>;
  private readonly subscriptions: Disposable[];
  private served: Served[] = [];

  constructor(client: DaemonClient, log: (text: string) => void) {
    this.emitter = new Emitter((error) => log(`a listener of served planners failed: ${error.stack}`));
    this.subscriptions = [
      client.on('serving.changed', ({ served }) => this.take(served)),
      client.onStatus(({ state }) => {
        if (state === 'ready')
          client.request('serving.list', {}).then(
            (served) => this.take(served),
            (error: Error) => log(`served planners cannot be listed: ${error.message}`),
          );
        // They live in the daemon, and go with it; while the connection is made anew they are served still.
        else if (state === 'stopped' || state === 'failed') this.take([]);
      }),
    ];
  }

  /** As last told. */
  get all(): readonly Served[] {
    return this.served;
  }

  onChange(listener: (served: Served[]) => void): Disposable {
    return this.emitter.on(listener);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private take(served: Served[]): void {
    if (served.length === 0 && this.served.length === 0) return;
    this.served = served;
    this.emitter.fire(served);
  }
}
