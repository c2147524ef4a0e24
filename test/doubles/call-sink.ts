/** A place for recorded calls in tests of the proxy alone: keeps them, can be slow, can be full. */
import type { ResolvedCall } from '../../protocol/records.ts';
import type { CallSink } from '../../trainer-daemon/store/contract.ts';
import { sleep } from './vllm-server.ts';

export class MemorySink implements CallSink {
  readonly calls: ResolvedCall[] = [];
  delay = 0;
  full = false;

  async appendCall(call: ResolvedCall): Promise<void> {
    if (this.delay) await sleep(this.delay);
    if (this.full) throw new Error('ENOSPC: no space left on device');
    this.calls.push(structuredClone(call));
  }
}
