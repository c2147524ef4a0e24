/** Writing run directories (design section 3.1). */
export { type CallSink, type RunStore, type Section, StoreError } from './contract.ts';
export { checkWritable, diskCode, makeFolder, storeError, writing } from './disk-trouble.ts';
export { isTemporary, syncDirectory, syncTree } from './files.ts';
export { processIdentity } from './process-identity.ts';
export { lockRun, runWriter } from './run-lock.ts';
export { createRun, openRun, type StoreOptions } from './run-store.ts';
export { clearStopRequest, isSooner, readStopRequest, requestStop } from './stop-request.ts';
