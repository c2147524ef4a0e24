/** The arithmetic of a config, beside the numbers it comes from. */
import { fineTuningArithmetic, roundArithmetic, taskCount } from '../../../protocol/config-arithmetic.ts';
import { plural } from '../../../protocol/counting.ts';
import type { Surroundings } from '../config-references.ts';
import type { InlayHint } from '../contract.ts';
import type { ConfigText } from './config-text.ts';
import { entryAt } from './tree.ts';

/** Of the config's sound part; none where too little of it is there. In the order of the text. */
export function configInlays(config: ConfigText, around?: Surroundings): InlayHint[] {
  const { usable } = config.reading;
  if (!usable) return [];
  const hints: (InlayHint & { at: number })[] = [];
  /** Beside the first of the keys that is written. */
  const add = (keys: string[], label: string, tooltip: string) => {
    const at = keys.map((key) => endOf(config, key)).find((offset) => offset !== undefined);
    if (at !== undefined) hints.push({ at, position: config.position(at), label, tooltip });
  };
  const { rl, sft, harness, evaluation, splits } = usable;
  const round = roundArithmetic(usable);
  if (rl.rounds > 0) {
    add(
      ['rl.attemptsPerGroup', 'rl.groupsPerRound', 'rl'],
      `${plural(round.episodes, 'episode')} a round`,
      `${rl.groupsPerRound} groups x ${rl.attemptsPerGroup} attempts`,
    );
    add(
      ['rl.maxResponsesPerEpisode', 'rl.groupsPerRound', 'rl'],
      `at most ${plural(round.samples, 'sample')} a round`,
      `${plural(round.episodes, 'episode')} x ${Math.min(rl.maxResponsesPerEpisode, harness.limits.turns)} responses`,
    );
    add(
      ['rl.batch', 'rl'],
      `at most ${plural(round.optimizerSteps, 'step')} a round, ${plural(round.optimizerSteps * rl.rounds, 'step')} in all`,
      `${rl.passes} x ceil(${round.samples} / ${rl.batch}), ${plural(rl.rounds, 'round')}`,
    );
    add(
      ['harness.limits.responseTokens', 'rl.maxTokens', 'rl'],
      `at most ${plural(round.tokens, 'response token')} a round`,
      `${plural(round.samples, 'sample')} of at most ${plural(Math.min(rl.maxTokens, harness.limits.responseTokens), 'token')}`,
    );
    add(
      ['rl.rounds', 'rl'],
      `about ${bytes(round.diskBytes)} a round`,
      'records and outputs of a typical episode; images and weights come on top',
    );
  }
  const tasks = taskCount(usable, around?.listing?.(harness.adapter));
  if (tasks !== undefined && tasks > 0) {
    const tuning = fineTuningArithmetic(usable, tasks);
    add(
      ['teacher.episodesPerTask', 'teacher'],
      plural(tuning.episodes, 'teacher episode'),
      `${plural(tasks, 'task')} x ${usable.teacher.episodesPerTask}`,
    );
    add(
      ['sft.batch', 'sft'],
      `at most ${plural(tuning.optimizerSteps, 'step')}`,
      `${plural(sft.epochs, 'epoch')} of at most ${plural(tuning.targets, 'target')}, ${sft.batch} a step`,
    );
    const held = evaluation.states === 'evaluation' ? splits.evaluation : evaluation.states;
    add(
      ['evaluation.states', 'splits.evaluation', 'evaluation'],
      `${plural(tasks * held.length * evaluation.episodesPerState, 'episode')} an evaluation`,
      `${plural(tasks, 'task')} x ${plural(held.length, 'state')} x ${evaluation.episodesPerState}`,
    );
  }
  return hints.sort((a, b) => a.at - b.at).map(({ position, label, tooltip }) => ({ position, label, tooltip }));
}

/** After the value on its key's line; after the colon of a section that begins on the next line. */
function endOf(config: ConfigText, path: string): number | undefined {
  const entry = entryAt(config.reading.document?.contents, path.split('.'));
  const key = entry?.key?.range;
  if (!key) return undefined;
  const value = entry.value?.range;
  const colon = config.text.indexOf(':', key[1]) + 1;
  if (!value || value[1] <= value[0]) return colon || key[1];
  return config.position(value[0]).line === config.position(key[1]).line ? value[1] : colon;
}

function bytes(count: number): string {
  if (count < 1e6) return `${Math.round(count / 1e3)} kB`;
  return count < 1e9 ? `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} MB` : `${(count / 1e9).toFixed(1)} GB`;
}
