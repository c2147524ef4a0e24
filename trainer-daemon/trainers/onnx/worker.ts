/** The trainer's worker thread: opens a trainer with the options it was started with, then serves its methods. */
import { parentPort, workerData } from 'node:worker_threads';
import type {
  OptimizerOptions,
  RlItem,
  RlLossOptions,
  Trainer,
  TrainerOptions,
  TrainingSequence,
} from '../contract.ts';
import type { Reply, Request } from './messages.ts';
import { openOnnxTrainer } from './trainer.ts';

const port = parentPort;
if (port === null) throw new Error('trainer-worker runs as a worker thread only');
const send = (reply: Reply) => port.postMessage(reply);
/** Errors lose their causes between threads. */
const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause);
};
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

try {
  const trainer = await openOnnxTrainer(workerData as TrainerOptions);
  port.on('message', async (request: Request) => {
    try {
      const result = await serve(trainer, request);
      send({ kind: 'result', id: request.id, result, stepsTaken: trainer.stepsTaken });
    } catch (error) {
      send({ kind: 'error', id: request.id, message: messageOf(error), code: codeOf(error) });
    }
    if (request.method === 'close') port.close();
  });
  send({ kind: 'ready', device: trainer.device, stepsTaken: trainer.stepsTaken });
} catch (error) {
  send({ kind: 'refused', message: messageOf(error) });
  port.close();
}

function serve(trainer: Trainer, { id, method, args }: Request): Promise<unknown> {
  switch (method) {
    case 'score':
      return trainer.score(args[0] as TrainingSequence[], (done, total) => send({ kind: 'progress', id, done, total }));
    case 'sftStep':
      return trainer.sftStep(args[0] as TrainingSequence[], args[1] as OptimizerOptions, args[2] as number);
    case 'rlStep':
      return trainer.rlStep(args[0] as RlItem[], args[1] as RlLossOptions, args[2] as OptimizerOptions);
    case 'exportCheckpoint':
      return trainer.exportCheckpoint(args[0] as string);
    case 'saveOptimizer':
      return trainer.saveOptimizer(args[0] as string);
    case 'close':
      return trainer.close();
  }
}
