/** Which episode it is, and how it ended. */
import type { StageEpisode } from '../../extension/replay/stage/data.ts';
import { shownInLine } from '../../recordings/replay/shown-text.ts';
import { element } from '../panel/elements.ts';
import { outcomeWords } from './call-words.ts';
import { word } from './words.ts';

export function headView(episode: StageEpisode): HTMLElement {
  const { task, init, attempt, outcome, open, section, run, id } = episode;
  const title = init === null || attempt === null ? word('ofTaskOnly', task) : word('ofTask', task, init, attempt);
  const state = open ? 'open' : !outcome ? 'none' : !outcome.valid ? 'invalid' : outcome.reward > 0 ? 'good' : 'bad';
  return element(
    'header',
    {},
    element('h1', {}, title),
    element(
      'p',
      {},
      element('span', { class: `badge badge-${state}` }, outcomeWords(episode)),
      ' ',
      element('span', { class: 'note' }, `${run}, ${section}, ${shownInLine(id)}`),
    ),
  );
}
