/** Which execution provider the trainer runs on. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { GraphBuilder } from '../../planner/onnx/builder.ts';
import { TrainerError, type TrainerOptions } from '../contract.ts';

// Failures reach us as exceptions; the runtime would also print them. Counts only before a process's first session.
env.logLevel = 'fatal';

export type Device = 'cpu' | 'cuda' | 'webgpu';

const advice: Record<Exclude<Device, 'cpu'>, string> = {
  cuda: 'It needs an NVIDIA driver, CUDA 12, cuDNN 9 and ONNX Runtime\'s CUDA libraries beside onnxruntime-node; "agentic-robo-rl doctor" tells how to get them. Or set trainer.device to cpu or auto.',
  webgpu: 'It needs a Vulkan (Linux), Metal (macOS) or D3D12 (Windows) driver. Or set trainer.device to cpu or auto.',
};

/**
 * `auto` is cuda where it works, else cpu.
 * @throws TrainerError when the device asked for does not work here, saying what it needs
 */
export async function chooseDevice(wanted: TrainerOptions['device']): Promise<Device> {
  if (wanted === 'cpu') return 'cpu';
  if (wanted === 'auto') return (await failureOf('cuda')) === undefined ? 'cuda' : 'cpu';
  const failure = await failureOf(wanted);
  if (failure !== undefined) {
    throw new TrainerError(`trainer.device ${wanted} does not work here: ${failure}. ${advice[wanted]}`);
  }
  return wanted;
}

/**
 * Whether the runtime's CUDA library lies beside it. Trying to load an absent one makes the runtime print an error that
 * no log setting suppresses once another session exists in the process.
 */
function cudaLibraryPresent(): boolean {
  const runtime = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  const name = process.platform === 'win32' ? 'onnxruntime_providers_cuda.dll' : 'libonnxruntime_providers_cuda.so';
  return existsSync(join(runtime, 'bin', 'napi-v6', process.platform, process.arch, name));
}

/** Why a provider cannot compute 1 x 1 = 1 here, in one line; undefined when it can. */
export async function failureOf(device: Exclude<Device, 'cpu'>): Promise<string | undefined> {
  if (device === 'cuda' && !cudaLibraryPresent()) return "ONNX Runtime's CUDA library is not installed";
  try {
    const g = new GraphBuilder();
    const x = g.input('x', ['n', 1]);
    g.output(g.gemm(x, x, { transB: true }), 'y', ['n', 'n']);
    const session = await InferenceSession.create(g.build(), sessionOptions(device, 1));
    try {
      const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(1), [1, 1]) });
      return (y.data as Float32Array)[0] === 1 ? undefined : 'it computes wrong results';
    } finally {
      await session.release();
    }
  } catch (error) {
    return plainMessage((error as Error).message);
  }
}

/** The runtime's messages begin with source places and conditions; what a person can use comes behind them. */
function plainMessage(message: string): string {
  const [line] = message.split('\n');
  const told = line.split(/ was false\. | : FAIL : |\[ONNXRuntimeError\] : /).pop()!;
  const text = told.replace(/^\d+ : \w+ : /, '').trim();
  return text.length > 240 ? text.slice(0, 240) + ' ...' : text.replace(/\.$/, '');
}

export function defaultThreads(): number {
  return availableParallelism();
}

export function sessionOptions(device: Device, threads: number): InferenceSession.SessionOptions {
  return {
    executionProviders: [device],
    intraOpNumThreads: threads,
    // Shapes change from run to run: memory patterns would only hold memory.
    enableMemPattern: false,
    // Errors reach us as exceptions; the runtime's own log would go to the terminal.
    logSeverityLevel: 4,
    // Threads that spin while they wait gain a tenth on an idle machine and lose half on a shared one.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  };
}
