/** A round without a single response to train on: its update takes no step, and nobody would see it but in a table. */
import { plural } from '../../protocol/counting.ts';
import { STATUS } from './reasons.ts';

/**
 * What to tell of such a round, by the commonest reason why its responses were left out.
 * @param byStatus How many responses have each status: at least one, and none is selected.
 * @param successes Valid episodes that solved their task, of so many `valid` ones.
 */
export function nothingSelected(byStatus: Readonly<Record<string, number>>, successes: number, valid: number): string {
  const told = 'no response is trained on and the weights stay as they are: ';
  const [[status, count]] = Object.entries(byStatus).sort((a, b) => b[1] - a[1]);
  if (status === STATUS.equalRewards)
    return (
      `${told}the attempts of each group have the same reward (${successes} of ${plural(valid, 'valid episode')} solved); ` +
      'take tasks that are solved now and then, fine-tune for longer before, or raise rl.attemptsPerGroup'
    );
  const all = Object.values(byStatus).reduce((sum, some) => sum + some, 0);
  return `${told}${count} of ${plural(all, 'response')} are ${status}; \`samples RUN --round N\` tells of each`;
}
