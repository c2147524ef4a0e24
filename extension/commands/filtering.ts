/** Narrowing the tree of runs. */
import { commands, l10n, type QuickPickItem } from 'vscode';
import { CONTEXTS } from '../ids.ts';
import { askText, pick } from '../picking.ts';
import { advantageIn, isEmpty, type RunFilter, SAMPLE_KINDS } from '../runs/filter.ts';
import type { Surroundings } from './table.ts';

type Part = keyof RunFilter;
type Asked = { value: RunFilter[Part] } | undefined;

/** Runs that are asked which reasons they have. */
const MOST_RUNS = 10;

/** Asks for one part of the filter; the others stay as they are. */
export async function filterRuns(surroundings: Surroundings): Promise<void> {
  const { tree } = surroundings;
  const title = l10n.t('Filter Runs');
  const { filter } = tree;
  const described = (value: string | number | undefined) => (value === undefined ? l10n.t('any') : String(value));
  const parts: (QuickPickItem & { part: Part })[] = [
    { part: 'task', label: l10n.t('Task'), description: described(filter.task) },
    {
      part: 'outcome',
      label: l10n.t('Outcome'),
      description: described(filter.outcome && outcomeWord(filter.outcome)),
    },
    {
      part: 'leastAdvantage',
      label: l10n.t('Least |advantage| of a call'),
      description: described(filter.leastAdvantage),
    },
    { part: 'reason', label: l10n.t('What became of a call'), description: described(filter.reason) },
  ];
  const chosen = await pick(parts, { title, placeHolder: l10n.t('Show only what has this...') });
  if (!chosen) return;
  const asked = await ask(surroundings, chosen.part, title);
  if (asked) setFilter(surroundings, { ...tree.filter, [chosen.part]: asked.value });
}

/** Shows everything again. */
export function clearRunsFilter(surroundings: Surroundings): void {
  setFilter(surroundings, {});
}

function setFilter({ tree, runsView }: Surroundings, filter: RunFilter): void {
  tree.filter = filter;
  runsView.description = filterWords(filter);
  void commands.executeCommand('setContext', CONTEXTS.filtered, !isEmpty(filter));
}

/** `tabletop_goal, failed, |advantage| >= 0.5`; undefined for everything. */
function filterWords({ task, outcome, leastAdvantage, reason }: RunFilter): string | undefined {
  const parts: string[] = [];
  if (task !== undefined) parts.push(task);
  if (outcome !== undefined) parts.push(outcomeWord(outcome));
  if (leastAdvantage !== undefined) parts.push(`|A| ≥ ${leastAdvantage}`);
  if (reason !== undefined) parts.push(reason);
  return parts.length > 0 ? parts.join(', ') : undefined;
}

function outcomeWord(outcome: NonNullable<RunFilter['outcome']>): string {
  switch (outcome) {
    case 'success':
      return l10n.t('solved');
    case 'failure':
      return l10n.t('not solved');
    case 'invalid':
      return l10n.t('invalid');
  }
}

async function ask(surroundings: Surroundings, part: Part, title: string): Promise<Asked> {
  const { filter } = surroundings.tree;
  switch (part) {
    case 'task': {
      const prompt = l10n.t('Part of a task, for example tabletop_goal or tabletop_goal/3; empty for any');
      const typed = await askText({ title, prompt, value: filter.task });
      return typed === undefined ? undefined : { value: typed.trim() || undefined };
    }
    case 'outcome':
      return pickValue(
        title,
        (['success', 'failure', 'invalid'] as const).map((value) => ({ label: outcomeWord(value), value })),
      );
    case 'leastAdvantage': {
      const typed = await askText({
        title,
        prompt: l10n.t(
          'A number, for example 0.25: calls of rounds whose advantage is at least that, up or down; empty for any',
        ),
        value: filter.leastAdvantage?.toString(),
        validateInput: (text) =>
          text.trim() === '' || advantageIn(text) !== undefined ? undefined : l10n.t('a number, 0 or more'),
      });
      return typed === undefined ? undefined : { value: advantageIn(typed) };
    }
    case 'reason':
      return pickValue(
        title,
        (await reasonsIn(surroundings)).map((value) => ({ label: value, value })),
      );
  }
}

async function pickValue<T extends RunFilter[Part]>(
  title: string,
  items: (QuickPickItem & { value: T })[],
): Promise<Asked> {
  const any = { label: l10n.t('any'), value: undefined };
  return pick<QuickPickItem & { value: RunFilter[Part] }>([...items, any], { title });
}

/** Kinds of statuses, and those that the newest runs have. */
async function reasonsIn({ folders }: Surroundings): Promise<string[]> {
  const runs = folders.all
    .filter(({ client }) => client.status.state === 'ready')
    .flatMap(({ client, runs: { all } }) => all.slice(0, MOST_RUNS).map(({ run }) => ({ client, run })));
  const found = await Promise.all(
    runs.map(({ client, run }) =>
      client.request('runs.snapshot', { run }).then(
        ({ state }) => state.rounds.flatMap(({ samplesByStatus }) => Object.keys(samplesByStatus ?? {})),
        () => [],
      ),
    ),
  );
  return [...new Set<string>([...SAMPLE_KINDS, ...found.flat()])].sort();
}
