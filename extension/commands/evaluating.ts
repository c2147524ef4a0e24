/** Evaluating planners on the held-out states, and comparing two evaluations. */
import { l10n, type QuickPickItem } from 'vscode';
import type { DaemonParams } from '../../protocol/daemon.ts';
import type { EvaluationSummary } from '../../protocol/records.ts';
import type { Folder } from '../folders.ts';
import { pick } from '../picking.ts';
import { comparisonText, evaluationWords } from '../policies/comparison-text.ts';
import { showText } from '../texts.ts';
import { mayExecute } from '../trust.ts';
import { chooseCheckpoint } from './checkpoint.ts';
import { chooseConfig, runOf, startDaemons } from './choosing.ts';
import { Missing, ways } from './missing.ts';
import { beginRun, folderOf, saved } from './starting.ts';
import type { Surroundings } from './table.ts';

/** Runs whose evaluations are offered. */
const MOST_RUNS = 50;

/** From a run's item: its base, fine-tuned and chosen planner. Else a policy of a run, or a folder under a config. */
export async function evaluateCheckpoint({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const title = l10n.t('Evaluate Checkpoint');
  const whole = runOf(argument);
  if (whole) return evaluate(whole.folder, whole.run, { run: whole.run });
  const chosen = await chooseCheckpoint(argument, folders, title);
  if (!chosen) return;
  const { folder, checkpoint, policy } = chosen;
  if (policy)
    return evaluate(folder, `${policy.run} v${policy.version}`, { run: policy.run, policies: [policy.version] });
  const config = await chooseConfig(undefined, title);
  if (!config) return;
  if (folderOf(config, folders) !== folder)
    throw new Error(l10n.t('the checkpoint and {0} lie in different folders of the workspace', config.fsPath));
  if (await saved(config)) await evaluate(folder, checkpoint, { config: config.fsPath, checkpoint });
}

async function evaluate(folder: Folder, what: string, params: DaemonParams<'evaluations.start'>): Promise<void> {
  await beginRun(folder, l10n.t('Evaluating {0}', what), () => folder.client.request('evaluations.start', params));
}

interface EvaluationItem extends QuickPickItem {
  folder: Folder;
  run: string;
  evaluation: EvaluationSummary;
}

/** Two evaluations on the episodes that both have played, as a text to read. From a run's item, its last is the first. */
export async function compareRuns({ folders }: Surroundings, argument?: unknown): Promise<void> {
  if (!mayExecute()) return;
  const title = l10n.t('Compare Runs');
  await startDaemons(folders.all);
  const items = (await Promise.all(folders.all.map(evaluationItems))).flat();
  const named = runOf(argument);
  const a =
    items.filter(({ folder, run }) => folder === named?.folder && run === named.run).at(-1) ??
    (await pickFrom(items, title, l10n.t('First evaluation (A)')));
  if (!a) return;
  // Daemons know the runs of their own folder only.
  const others = items.filter((item) => item !== a && item.folder === a.folder);
  const b = await pickFrom(others, title, l10n.t('Second evaluation (B), against {0}', `${a.label} (${a.run})`));
  if (!b) return;
  const compared = await a.folder.client.request('evaluations.compare', {
    ...{ a: a.run, b: b.run, evaluationA: a.evaluation.id, evaluationB: b.evaluation.id },
  });
  await showText(l10n.t('{0} and {1}', nameOf(a), nameOf(b)), comparisonText(l10n, compared, [nameOf(a), nameOf(b)]));
}

async function pickFrom(items: EvaluationItem[], title: string, placeHolder: string) {
  if (items.length === 0) throw new Missing(l10n.t('two finished evaluations are needed'), [ways.evaluateCheckpoint()]);
  return pick(items, { title, placeHolder, matchOnDescription: true });
}

/** Finished evaluations on held-out states. Those that cannot be read are left out; the run's page says why. */
async function evaluationItems(folder: Folder): Promise<EvaluationItem[]> {
  const lists = folder.runs.all.slice(0, MOST_RUNS).map(async ({ run }) => {
    const all = await folder.client.request('evaluations.list', { run }).catch(() => []);
    return all.flatMap((evaluation): EvaluationItem[] => {
      if ('damaged' in evaluation || evaluation.kind !== 'evaluation') return [];
      const detail = evaluationWords(l10n, evaluation);
      return [{ label: evaluation.id, description: run.replace(/^runs\//, ''), detail, folder, run, evaluation }];
    });
  });
  return (await Promise.all(lists)).flat();
}

function nameOf({ run, evaluation }: EvaluationItem): string {
  return `${run.replace(/^runs\//, '')} ${evaluation.id}`;
}
