/** Work that is asked for again and again, done one at a time and not more often than needed. */

/**
 * Runs `work` when called. Calls that come while it runs are answered by one further run after it, however many they
 * are: what was asked for last counts, and nothing runs twice at a time.
 */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    running = work();
    try {
      await running;
    } finally {
      running = undefined;
    }
  };
  return () => {
    if (!running) return run();
    next ??= running
      .catch(() => {}) // Its own callers hear of it.
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
}
