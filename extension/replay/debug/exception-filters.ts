/** What may be stopped at without a breakpoint: things that went wrong in a recording. */
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { isDamaged } from '../../../recordings/index.ts';
import type { FactPlace } from '../../../recordings/replay/facts.ts';
import type { Language } from './host.ts';

export const FILTERS = [
  'tool-error',
  'code-exception',
  'zero-weight',
  'invalid',
  'truncated',
  'prompt-mismatch',
  'damaged',
] as const;
export type Filter = (typeof FILTERS)[number];

/** As a client lists them. */
export function filterList(l10n: Language): Dap.ExceptionBreakpointsFilter[] {
  const labels: Record<Filter, string> = {
    'tool-error': l10n.t('Tool Errors'),
    'code-exception': l10n.t('Exceptions of Planner Code'),
    'zero-weight': l10n.t('Zero-Weight Calls'),
    invalid: l10n.t('Invalid Episodes'),
    truncated: l10n.t('Truncated Responses'),
    'prompt-mismatch': l10n.t('Prompt Mismatches'),
    damaged: l10n.t('Damaged Records'),
  };
  return FILTERS.map((filter) => ({
    ...{ filter, label: labels[filter], default: false, supportsCondition: true },
    conditionDescription: l10n.t('An expression, for example turn > 3'),
  }));
}

/** What a filter finds at a place, in the words of the record; undefined when nothing. */
export function foundBy(filter: Filter, { episode, call, part }: FactPlace): string | undefined {
  if (filter === 'invalid') {
    const { record } = episode.outcome;
    return part === 'outcome' && record?.valid === false ? (record.invalidReason ?? '') : undefined;
  }
  if (!call) return undefined;
  if (filter === 'damaged') {
    if (part !== 'call') return undefined;
    if (isDamaged(call.call)) return call.call.damaged;
    const problems = [...(call.contextDamaged === null ? [] : [call.contextDamaged]), ...call.problems];
    return problems.length > 0 ? problems.join('\n') : undefined;
  }
  if (isDamaged(call.call)) return undefined;
  if (filter === 'tool-error' || filter === 'code-exception') {
    const action = typeof part === 'number' ? call.toolCalls[part] : undefined;
    if (!action?.failed || action.exception !== (filter === 'code-exception')) return undefined;
    return action.result ?? '';
  }
  if (part !== 'call') return undefined;
  const status = call.sample?.status ?? '';
  if (filter === 'truncated')
    return call.call.finishReason === 'length' ? `${call.call.responseTokenIds?.length ?? 0}` : undefined;
  if (filter === 'prompt-mismatch') return status === 'zero-weight:prompt-mismatch' ? status : undefined;
  return status.startsWith('zero-weight') ? status : undefined;
}
