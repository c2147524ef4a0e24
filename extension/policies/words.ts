/** How policies and served planners are worded. */
import { basename } from 'node:path';
import { l10n } from 'vscode';
import type { DaemonResult, Served } from '../../protocol/daemon.ts';
import type { PolicyRecord } from '../../protocol/records.ts';

/** A policy of a run as the daemon lists it. */
export type ListedPolicy = DaemonResult<'policies.list'>[number];

/** `v3: round 2` */
export function policyName({ version, stage, round }: PolicyRecord): string {
  switch (stage) {
    case 'base':
      return l10n.t('v{0}: base', version);
    case 'sft':
      return l10n.t('v{0}: fine-tuned', version);
    case 'rl':
      return l10n.t('v{0}: round {1}', version, round);
  }
}

/** `62% on validation (31/50), active`; what is not known is left out. */
export function policyDescription({ policy, present, active }: ListedPolicy): string {
  const parts: string[] = [];
  const { validation } = policy;
  if (validation && validation.episodes > 0) {
    const { rate, successes, episodes } = validation;
    parts.push(l10n.t('{0}% on validation ({1}/{2})', Math.round(rate * 100), successes, episodes));
  }
  if (active) parts.push(l10n.t('active'));
  if (!present) parts.push(l10n.t('weights removed'));
  return parts.join(', ');
}

/** `v2 of demo-20260101T000000Z`, or the folder's name. */
export function servedName({ run, policyVersion, checkpoint }: Served): string {
  return run === null || policyVersion === null
    ? basename(checkpoint)
    : l10n.t('v{0} of {1}', policyVersion, run.replace(/^runs\//, ''));
}
