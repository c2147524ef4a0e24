/** The planner worker: holds the weights and samples. Runs of the numeric runtime block its thread, hence a thread. */
import { availableParallelism, totalmem } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { parameterCount } from '../architecture.ts';
import { readCheckpoint } from '../checkpoint.ts';
import { Decoder } from './decoder.ts';
import type { FromWorker, Progress, ServedLimits, ToWorker, WorkerSettings } from './messages.ts';
import { Scheduler, type ServedModel } from './scheduler.ts';

/** Below this many parameters a second thread costs more in hand-overs than it computes. */
const SINGLE_THREAD_PARAMETERS = 16e6;
/** Share of the machine's memory for keys and values of sequences at work, and for those kept. */
const WORKING_SHARE = 0.2;
const KEPT_SHARE = 0.05;

const settings = workerData as WorkerSettings;
const port = parentPort!;
const send = (message: FromWorker) => port.postMessage(message);

async function load(folder: string, policyVersion: number): Promise<{ model: ServedModel; served: ServedLimits }> {
  const { architecture, weights, endTokenIds } = await readCheckpoint(folder);
  const parameters = parameterCount(architecture);
  const threads = settings.threads ?? (parameters < SINGLE_THREAD_PARAMETERS ? 1 : availableParallelism());
  const room = Math.floor((totalmem() * WORKING_SHARE) / Decoder.bytesPerToken(architecture));
  const context = Math.min(architecture.context, room);
  const slots = settings.deterministic ? 1 : Math.max(1, Math.min(settings.maxBatch, Math.floor(room / context)));
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
  let progress: Progress[] = [];
  const scheduler = new Scheduler(
    first.model,
    { deterministic: settings.deterministic, cacheBytes: Math.floor(totalmem() * KEPT_SHARE) },
    {
      token: (id, token, policyVersion) => progress.push({ id, token, policyVersion }),
      finished: (id, finished, policyVersion, cachedTokens) =>
        progress.push({ id, finished, policyVersion, cachedTokens }),
      stepDone() {
        if (progress.length === 0) return;
        send({ type: 'progress', items: progress });
        progress = [];
      },
    },
  );
  port.on('message', async (message: ToWorker) => {
    switch (message.type) {
      case 'generate':
        scheduler.add(message.request);
        break;
      case 'cancel':
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
