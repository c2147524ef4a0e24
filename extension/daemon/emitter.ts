/** Listeners of one event. */

export interface Disposable {
  dispose(): void;
}

export class Emitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  private readonly onError: (error: Error) => void;

  /** @param onError is told what a listener throws; the others are called all the same. */
  constructor(onError: (error: Error) => void) {
    this.onError = onError;
  }

  on(listener: (value: T) => void): Disposable {
    // A wrapper of its own: one function may listen twice.
    const called = (value: T) => listener(value);
    this.listeners.add(called);
    return { dispose: () => void this.listeners.delete(called) };
  }

  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.onError(error as Error);
      }
    }
  }
}
