/** A run that only a benchmark writes to. */
import type { RunInfo } from '../protocol/records.ts';

export const benchRun: RunInfo = {
  version: 1,
  id: '00000000',
  name: 'bench',
  createdAt: new Date().toISOString(),
  config: {},
  configFolder: '/',
  software: {},
  adapterSha256: null,
  workspaceCommit: null,
};
