// What a benchmark's figures were measured on. No names of hosts, users or folders.
import { createRequire } from 'node:module';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

export function describeMachine() {
  const runtime = createRequire(import.meta.url)('onnxruntime-node/package.json').version;
  return {
    processor: `${cpus()[0]?.model ?? process.arch}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release().split('-')[0]}`,
    node: `Node ${process.versions.node}`,
    runtime: `ONNX Runtime ${runtime}`,
  };
}

/** Mean number of processes that wanted to run in the last minute. */
export const loadNow = () => Number(loadavg()[0].toFixed(1));
