/** The planner worker: holds the weights and samples. Runs of the numeric runtime block its thread, hence a thread. */
import { availableParallelism, totalmem } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { parameterCount } from '../architecture.ts';
import { readCheckpoint } from '../checkpoint.ts';
import { KeyValueCaches } from './caches.ts';
import { Decoder } from './decoder.ts';
import type { FromWorker, Progress, ServedLimits, ToWorker, WorkerSettings } from './messages.ts';
import { Scheduler, type ServedModel } from './scheduler.ts';

/** Below this many parameters more threads than a few cost more in hand-overs than they compute. */
const SMALL = 16e6;
/** Share of the machine's memory for keys and values of sequences at work, and for those kept. */
const WORK_BYTES = Math.floor(totalmem() * 0.2);
const KEPT_BYTES = Math.floor(totalmem() * 0.05);

const settings = workerData as WorkerSettings;
const port = parentPort!;
const send = (message: FromWorker) => port.postMessage(message);

async function load(folder: string, policyVersion: number): Promise<{ model: ServedModel; served: ServedLimits }> {
  const { architecture, weights, endTokenIds } = await readCheckpoint(folder);
  const parameters = parameterCount(architecture);
  const cores = availableParallelism();
  const threads = settings.threads ?? (parameters < SMALL ? (cores < 4 ? 1 : 2) : cores);
  const context = Math.min(architecture.context, Math.floor(WORK_BYTES / KeyValueCaches.bytesPerToken(architecture)));
  const slots = settings.deterministic ? 1 : settings.maxBatch;
  const decoder = await Decoder.create(weights, { slots, context, threads });
  return { model: { decoder, policyVersion, endTokenIds }, served: { context, slots, parameters } };
}

async function main(): Promise<void> {
  let first: Awaited<ReturnType<typeof load>>;
  try {
    first = await load(settings.checkpoint, settings.policyVersion);
  } catch (error) {
    send({ type: 'failed', message: (error as Error).message });
    return;
  }
  /** Tokens not told yet, of each request at work. */
  const untold = new Map<number, Progress & { stream: boolean }>();
  const scheduler = new Scheduler(
    first.model,
    { deterministic: settings.deterministic, workBytes: WORK_BYTES, cacheBytes: KEPT_BYTES },
    {
      token(id, token, policyVersion) {
        const progress = untold.get(id);
        if (progress === undefined) return;
        progress.tokens.push(token);
        progress.policyVersion = policyVersion;
      },
      finished(id, reason, cachedTokens) {
        const progress = untold.get(id);
        if (progress !== undefined) progress.end = { reason, cachedTokens };
      },
      stepDone() {
        const items: Progress[] = [];
        for (const progress of untold.values()) {
          const { id, tokens, policyVersion, end, stream } = progress;
          if (end === null && (!stream || tokens.length === 0)) continue;
          items.push({ id, tokens, policyVersion, end });
          progress.tokens = [];
          if (end !== null) untold.delete(id);
        }
        if (items.length > 0) send({ type: 'progress', items });
      },
    },
  );
  port.on('message', async (message: ToWorker) => {
    switch (message.type) {
      case 'generate':
        untold.set(message.request.id, {
          id: message.request.id,
          tokens: [],
          policyVersion: -1,
          end: null,
          stream: message.stream,
        });
        scheduler.add(message.request);
        break;
      case 'cancel':
        untold.delete(message.id);
        scheduler.cancel(message.id);
        break;
      case 'activate':
        await activate(scheduler, message);
        break;
      case 'stats':
        send({ type: 'stats', call: message.call, stats: scheduler.stats() });
        break;
      case 'close':
        scheduler.close();
        break;
    }
  });
  send({ type: 'ready', served: first.served });
  await scheduler.run();
  port.close();
}

async function activate(scheduler: Scheduler, message: ToWorker & { type: 'activate' }): Promise<void> {
  try {
    const loading = load(message.folder, message.policyVersion);
    await scheduler.swap(loading.then(({ model }) => model));
    send({ type: 'activated', call: message.call, served: (await loading).served });
  } catch (error) {
    send({ type: 'refused', call: message.call, message: (error as Error).message });
  }
}

await main();
