/** Failures that going on with a run cannot mend, because the run keeps the config it began with. */

const KEPT = 'a run keeps its own config, so going on with this one ends here again';

/** The sentence for it. @param change what to change, as an order: `lower sft.learningRate`. */
export function newRunAdvice(change: string): string {
  return `${change} in the config, and start a new run: ${KEPT}`;
}

/** Whether a failure's message says so. */
export function asksForNewRun(message: string): boolean {
  return message.includes(KEPT);
}
