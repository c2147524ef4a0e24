/** The last check of each adapter, kept with the workspace. Knows nothing of VS Code. */
import { z } from 'zod';
import type { AdapterCheck } from '../../protocol/daemon.ts';
import { type Disposable, Emitter } from '../daemon/emitter.ts';

/** Adapters that are kept; the one checked longest ago goes first. */
const MOST_ADAPTERS = 50;

const lastCheckSchema = z.object({
  /** UTC. */
  at: z.iso.datetime(),
  /** Of the adapter; empty where it could never be run. */
  name: z.string(),
  outputs: z.array(
    z.object({
      directory: z.string(),
      /** The five fields; null where the adapter made none. */
      fields: z
        .object({ task: z.string(), init: z.number(), attempt: z.number(), reward: z.number(), valid: z.boolean() })
        .nullable(),
      problem: z.string().nullable(),
    }),
  ),
  /** Why the newest check could not be made; the outputs are then those of the one before. */
  failure: z.string().nullable(),
});
export type LastCheck = z.output<typeof lastCheckSchema>;
const storedSchema = z.record(z.string(), lastCheckSchema);

/** Where it is kept: `workspaceState` of VS Code. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

export class LastChecks {
  private readonly memory: Memory;
  private readonly key: string;
  private readonly emitter: Emitter<string>;
  private readonly checks: Map<string, LastCheck>;

  /** What cannot be read (another version wrote it) is forgotten. */
  constructor(memory: Memory, key: string, log: (text: string) => void) {
    this.memory = memory;
    this.key = key;
    this.emitter = new Emitter((error) => log(`a listener of checks failed: ${error.stack}`));
    const stored = storedSchema.safeParse(memory.get(key) ?? {});
    this.checks = new Map(stored.success ? Object.entries(stored.data) : []);
  }

  /** @param adapter its URI. */
  of(adapter: string): LastCheck | undefined {
    return this.checks.get(adapter);
  }

  /** Tells which adapter's check is new. */
  onChange(listener: (adapter: string) => void): Disposable {
    return this.emitter.on(listener);
  }

  checked(adapter: string, result: AdapterCheck, at: Date): void {
    this.take(adapter, {
      at: at.toISOString(),
      name: result.adapter.name,
      outputs: result.outputs.map(({ directory, outcome, problem }) => {
        if (!outcome) return { directory, fields: null, problem };
        const { task, init, attempt, reward, valid } = outcome;
        return { directory, fields: { task, init, attempt, reward, valid }, problem };
      }),
      failure: null,
    });
  }

  failed(adapter: string, failure: string, at: Date): void {
    const before = this.checks.get(adapter) ?? { name: '', outputs: [] };
    this.take(adapter, { ...before, at: at.toISOString(), failure });
  }

  private take(adapter: string, check: LastCheck): void {
    this.checks.delete(adapter);
    this.checks.set(adapter, check);
    for (const oldest of this.checks.keys()) if (this.checks.size > MOST_ADAPTERS) this.checks.delete(oldest);
    this.memory.update(this.key, Object.fromEntries(this.checks)).then(undefined, () => {
      // The view has it; only the next window would lack it.
    });
    this.emitter.fire(adapter);
  }
}
