/** All rules, in the order in which they are asked. */
import type { Rule } from '../analysis.ts';
import { determinism, moduleState } from './determinism.ts';
import { missingFiles, recordPaths } from './files.ts';
import { harnessChanged } from './harness.ts';
import { initialState } from './initial-state.ts';
import { exposedKey, throughShell } from './launching.ts';
import { rewardIsNumber, rewardSource } from './reward.ts';
import { adapterShape, launchShape, outcomeShape } from './shape.ts';
import { fieldTypes, promisesUsed } from './types.ts';
import { validConstant, validReason } from './valid.ts';

export const RULES: readonly Rule[] = [
  adapterShape,
  outcomeShape,
  launchShape,
  fieldTypes,
  promisesUsed,
  rewardSource,
  rewardIsNumber,
  validReason,
  validConstant,
  initialState,
  missingFiles,
  recordPaths,
  determinism,
  moduleState,
  throughShell,
  exposedKey,
  harnessChanged,
];
