/** The change event of a tree whose causes come in numbers: those of a while are told once. */
import { type Disposable, EventEmitter } from 'vscode';

export class PacedChange implements Disposable {
  private readonly emitter = new EventEmitter<undefined>();
  private waiting: NodeJS.Timeout | undefined;
  readonly event = this.emitter.event;

  /** Tells at once. */
  fire(): void {
    this.emitter.fire(undefined);
  }

  /** Tells in so many milliseconds, unless it is to be told by then anyway. */
  soon(milliseconds: number): void {
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      this.fire();
    }, milliseconds);
  }

  dispose(): void {
    clearTimeout(this.waiting);
    this.emitter.dispose();
  }
}
