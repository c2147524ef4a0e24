/** Planners that the daemon serves for a user: checkpoints asked for, and the policy activated for the workspace. */
import { randomBytes } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import type { Served } from '../../protocol/daemon.ts';
import { policySchema } from '../../protocol/records.ts';
import { readPlainFile } from '../../recordings/plain-file.ts';
import type { PlannerServer, PlannerServerOptions } from '../planner/serving/server.ts';
import type { Log } from './log.ts';
import { RpcError } from './rpc-error.ts';
import type { Workspace } from './workspace.ts';

/** Each holds its weights in memory. */
const MOST_SERVED = 4;

interface Running {
  server: PlannerServer;
  served: Served;
}

export class ServedPlanners {
  private readonly workspace: Workspace;
  private readonly log: Log;
  private readonly changed: (served: Served[]) => void;
  private readonly running = new Map<string, Running>();
  /** One start, stop or change at a time. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(workspace: Workspace, log: Log, changed: (served: Served[]) => void) {
    this.workspace = workspace;
    this.log = log;
    this.changed = changed;
  }

  list(): Served[] {
    return [...this.running.values()].map(({ served }) => served);
  }

  /** Serves a checkpoint folder, or tells where it is served already. @throws RpcError `failed`. */
  start(checkpoint: string, deterministic: boolean): Promise<Served> {
    return this.inTurn(async () => {
      const known = this.running.get(checkpoint);
      if (known) return known.served;
      return this.launch(checkpoint, basename(checkpoint), { deterministic });
    });
  }

  /** Serves a policy of a run as the workspace's planner. Its address stays where its tokenizer is the one before. */
  activate(checkpoint: string): Promise<Served> {
    return this.inTurn(async () => {
      const known = this.running.get(checkpoint);
      const before = [...this.running.values()].find(({ served }) => served.active);
      if (known && known === before) return known.served;
      if (before && !known) {
        const policy = await this.policyOf(checkpoint);
        try {
          await before.server.activate(checkpoint, policy.policyVersion ?? 0);
          this.running.delete(before.served.checkpoint);
          const served = { ...before.served, checkpoint, ...policy };
          this.running.set(checkpoint, { server: before.server, served });
          return this.told(served);
        } catch (error) {
          this.log.write(`served anew at another address: ${(error as Error).message}`);
        }
      }
      if (before) await this.end(before);
      const served = known?.served ?? (await this.launch(checkpoint, 'planner', { deterministic: false }));
      served.active = true;
      return this.told(served);
    });
  }

  /** @returns whether it was served. */
  stop(checkpoint: string): Promise<boolean> {
    return this.inTurn(async () => {
      const known = this.running.get(checkpoint);
      if (known) {
        await this.end(known);
        this.changed(this.list());
      }
      return known !== undefined;
    });
  }

  close(): Promise<void> {
    return this.inTurn(async () => {
      for (const one of [...this.running.values()]) await this.end(one);
    });
  }

  private async launch(
    checkpoint: string,
    modelName: string,
    options: Pick<PlannerServerOptions, 'deterministic'>,
  ): Promise<Served> {
    if (this.running.size >= MOST_SERVED)
      throw new RpcError('failed', `${MOST_SERVED} planners are served already; stop one first`);
    const policy = await this.policyOf(checkpoint);
    const apiKey = randomBytes(32).toString('hex');
    this.log.keepSecret(apiKey);
    const { startPlannerServer } = await import('../planner/serving/server.ts');
    const server = await startPlannerServer({
      checkpoint,
      modelName,
      policyVersion: policy.policyVersion ?? 0,
      apiKey,
      ...options,
    }).catch((error: Error) => {
      throw new RpcError('failed', error.message);
    });
    const { parameters, context } = await server.stats();
    const served: Served = {
      checkpoint,
      url: server.url,
      model: modelName,
      apiKey,
      ...policy,
      active: false,
      parameters,
      context,
      warnings: [...server.warnings],
    };
    this.running.set(checkpoint, { server, served });
    return this.told(served);
  }

  /** The run that a checkpoint is a policy of, by its place and its policy.json. */
  private async policyOf(checkpoint: string): Promise<Pick<Served, 'run' | 'policyVersion'>> {
    const directory = dirname(dirname(checkpoint));
    if (relative(directory, checkpoint) !== join('policies', basename(checkpoint))) return NO_POLICY;
    const text = await readPlainFile(checkpoint, join(checkpoint, 'policy.json'));
    if (!(text instanceof Uint8Array)) return NO_POLICY;
    try {
      const { version } = policySchema.parse(JSON.parse(text.toString('utf8')));
      return { run: this.workspace.runName(directory), policyVersion: version };
    } catch {
      return NO_POLICY;
    }
  }

  private told(served: Served): Served {
    this.log.write(`serving ${served.checkpoint} at ${served.url}`);
    this.changed(this.list());
    return served;
  }

  private async end({ server, served }: Running): Promise<void> {
    this.running.delete(served.checkpoint);
    await server.close();
    this.log.write(`no longer serving ${served.checkpoint}`);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => {});
    return result;
  }
}

const NO_POLICY = { run: null, policyVersion: null };
