/**
 * Tries one native part of the product. Each probe runs in a process of its own: a driver that crashes takes only that
 * process with it.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const PROBES = ['cpu', 'cuda', 'webgpu', 'physics'] as const;
export type Probe = (typeof PROBES)[number];

export interface ProbeResult {
  ok: boolean;
  /** A version where it works, the reason where it does not. */
  detail: string;
}

const MOST_SECONDS = 60;
/** Hidden command by which this program calls itself. */
export const PROBE_COMMAND = 'doctor-probe';

/** Runs a probe in a child process. */
export function probe(name: Probe): Promise<ProbeResult> {
  return new Promise((done) => {
    const program = process.argv[1] ?? fileURLToPath(import.meta.url);
    execFile(
      process.execPath,
      [program, PROBE_COMMAND, name],
      { timeout: MOST_SECONDS * 1000, killSignal: 'SIGKILL' },
      (error, out) => {
        const [, answer] = /^probe: (\{.*\})$/m.exec(out) ?? [];
        if (answer) done(JSON.parse(answer) as ProbeResult);
        else if (error?.killed) done({ ok: false, detail: `gave no answer within ${MOST_SECONDS} s` });
        else done({ ok: false, detail: `its process died (${error?.signal ?? `exit code ${error?.code ?? 0}`})` });
      },
    );
  });
}

/** What the child process does: one computation, checked. */
export async function runProbe(name: Probe): Promise<ProbeResult> {
  try {
    if (name === 'physics') {
      const { loadEngine } = await import('../../trainer-daemon/tabletop/physics/engine.ts');
      const engine = await loadEngine();
      return { ok: true, detail: `MuJoCo ${engine.mj_versionString()}` };
    }
    const runtime = await import('onnxruntime-node');
    if (name === 'cpu')
      return (await computesOnCpu(runtime))
        ? { ok: true, detail: `ONNX Runtime ${runtime.env.versions.common}` }
        : { ok: false, detail: 'it computes wrong results' };
    const { failureOf } = await import('../../trainer-daemon/trainers/onnx/device.ts');
    const failure = await failureOf(name);
    return failure === undefined ? { ok: true, detail: 'works' } : { ok: false, detail: failure };
  } catch (error) {
    return { ok: false, detail: (error as Error).message.split('\n')[0] };
  }
}

async function computesOnCpu(runtime: typeof import('onnxruntime-node')): Promise<boolean> {
  const { GraphBuilder } = await import('../../trainer-daemon/planner/onnx/builder.ts');
  const graph = new GraphBuilder();
  const x = graph.input('x', ['n', 1]);
  graph.output(graph.gemm(x, x, { transB: true }), 'y', ['n', 'n']);
  const session = await runtime.InferenceSession.create(graph.build(), { executionProviders: ['cpu'] });
  const { y } = await session.run({ x: new runtime.Tensor('float32', Float32Array.of(2), [1, 1]) });
  await session.release();
  return (y.data as Float32Array)[0] === 4;
}
