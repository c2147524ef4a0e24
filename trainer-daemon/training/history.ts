/** Reading a run's journal: events of one kind, and the policies it tells of. */
import type { JournalEvent, JournalLine } from '../../protocol/journal.ts';
import type { PolicyRecord } from '../../protocol/records.ts';
import type { Recording } from '../../recordings/index.ts';

/** Journal events of one type, oldest first. */
export function eventsOf<T extends JournalEvent['type']>(
  lines: readonly JournalLine[],
  type: T,
): Extract<JournalEvent, { type: T }>[] {
  return lines
    .map((line) => line.event)
    .filter((event): event is Extract<JournalEvent, { type: T }> => event.type === type);
}

/** Policies by version; of two entries for one version the later counts. */
export function policiesOf(lines: readonly JournalLine[]): PolicyRecord[] {
  const byVersion = new Map(eventsOf(lines, 'policy-created').map(({ policy }) => [policy.version, policy]));
  return [...byVersion.values()].sort((a, b) => a.version - b.version);
}

/** The whole journal, or the first line of it that cannot be read. */
export async function readJournal(
  recording: Recording,
): Promise<{ lines: JournalLine[] } | { damaged: string; line: number }> {
  const lines: JournalLine[] = [];
  for await (const line of await recording.journal()) {
    if ('damaged' in line) return line;
    lines.push(line);
  }
  return { lines };
}

/** What a run was evaluated for: version 0, the fine-tuned one, and the RL version chosen on validation. */
export interface Compared {
  label: string;
  version: number;
}

/** The policies that the final table compares; whichever exist. */
export function comparedPolicies(lines: readonly JournalLine[], policies: readonly PolicyRecord[]): Compared[] {
  const compared: Compared[] = [];
  if (policies.some((policy) => policy.version === 0)) compared.push({ label: 'base', version: 0 });
  const sft = policies.find((policy) => policy.stage === 'sft');
  if (sft) compared.push({ label: 'SFT', version: sft.version });
  const chosen = eventsOf(lines, 'checkpoint-chosen').findLast((event) => event.stage === 'rl');
  if (chosen) compared.push({ label: 'RL', version: chosen.policyVersion });
  return compared;
}

/** Policies asked for by their versions. Versions that the run does not have come back as `missing`. */
export function namedPolicies(
  versions: readonly number[],
  policies: readonly PolicyRecord[],
): { found: Compared[]; missing: number[] } {
  const found: Compared[] = [];
  const missing: number[] = [];
  for (const version of versions) {
    const policy = policies.find((one) => one.version === version);
    if (!policy) missing.push(version);
    else
      found.push({
        version,
        label: policy.stage === 'rl' ? `RL round ${policy.round}` : policy.stage === 'sft' ? 'SFT' : 'base',
      });
  }
  return { found, missing };
}
