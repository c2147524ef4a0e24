/** Every finding about adapters: its code, how bad it is, and what its page is called. */
import type { Severity } from '../contract.ts';

export const ADAPTER_CODES = {
  'adapter-not-checked': 'warning',
  'adapter-syntax': 'error',
  'adapter-no-default-export': 'error',
  'adapter-missing-field': 'error',
  'adapter-unknown-field': 'error',
  'adapter-wrong-type': 'error',
  'adapter-unawaited-promise': 'error',
  'adapter-no-outcome': 'error',
  'adapter-output-failed': 'error',
  'reward-from-planner': 'error',
  'reward-not-a-number': 'error',
  'valid-from-planner-error': 'warning',
  'valid-is-constant': 'warning',
  'init-varies-with-attempt': 'error',
  'missing-file-unhandled': 'warning',
  'outcome-not-deterministic': 'warning',
  'adapter-keeps-state': 'warning',
  'harness-changed': 'warning',
  'launch-through-shell': 'error',
  'path-from-record': 'warning',
  'api-key-exposed': 'error',
} as const satisfies Record<string, Severity>;

export type AdapterCode = keyof typeof ADAPTER_CODES;
