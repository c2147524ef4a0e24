/** Collects what a person should hear about a stage: one line a kind, with how often and the first case. */
export class Notices {
  private readonly kinds = new Map<string, { count: number; first: string }>();

  /** @param kind what happened, in words that follow a number, for example `prompts differ from the record`. */
  add(kind: string, first: string): void {
    const known = this.kinds.get(kind);
    if (known) known.count++;
    else this.kinds.set(kind, { count: 1, first });
  }

  lines(): string[] {
    return [...this.kinds].map(([kind, { count, first }]) => `${count} x ${kind}; first: ${first}`);
  }
}
