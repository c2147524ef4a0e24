/** The attempts of the group: how each went, one to stand in, one to show beside. */
import type { StageAttempt, StageEpisode } from '../../extension/replay/stage/data.ts';
import { button, type Cell, element, table } from '../panel/elements.ts';
import { figure, whole } from '../panel/formats.ts';
import { word } from './words.ts';

export interface GroupDeeds {
  enter(episode: string): void;
  beside(episode: string): void;
}

/** @param beside the attempt that is shown beside. */
export function groupView(episode: StageEpisode, deeds: GroupDeeds, beside: string | undefined): HTMLElement {
  const made = element('section', { id: 'group', 'aria-labelledby': 'title-group' });
  if (episode.group.length === 0) {
    made.hidden = true;
    return made;
  }
  const heads: Cell[] = [
    { text: word('attempt'), number: true },
    { text: word('reward'), number: true },
    { text: word('state') },
    { text: word('calls') },
    { text: word('successTurn'), number: true },
    { text: '' },
  ];
  const most = Math.max(1, ...episode.group.map(({ turns }) => turns));
  const rows = episode.group.map((one, at) => [
    { text: nameOf(one), head: true },
    { text: figure(one.reward), number: true },
    { text: word(one.valid ? 'valid' : 'invalid') },
    turnsBar(one, most),
    { text: one.successTurn === null ? '' : whole(one.successTurn + 1), number: true },
    deedsOf(one, at, one.episode === episode.id, one.episode === beside, deeds),
  ]);
  made.append(element('h2', { id: 'title-group' }, word('group')), table(word('group'), heads, rows));
  return made;
}

function nameOf({ attempt, tryNumber }: StageAttempt): string {
  return tryNumber > 0 ? `${attempt} (${tryNumber + 1})` : String(attempt);
}

/** How many calls, and which of them reached the goal, as a bar. */
function turnsBar({ turns, successTurn }: StageAttempt, most: number): HTMLElement {
  const track = element('span', { class: 'turns', 'aria-hidden': 'true' });
  for (let turn = 0; turn < Math.min(turns, 100); turn++)
    track.append(element('span', { class: turn === successTurn ? 'turn goal' : 'turn' }));
  track.style.maxWidth = `${Math.round((200 * turns) / most)}px`;
  return element('span', { class: 'turns-cell' }, whole(turns), track);
}

function deedsOf(one: StageAttempt, at: number, here: boolean, beside: boolean, deeds: GroupDeeds): HTMLElement {
  if (here) return element('span', { class: 'badge' }, word('standHere'));
  return element(
    'span',
    { class: 'deeds' },
    button(word('enter'), () => deeds.enter(one.episode), {
      id: `enter-${at}`,
      'aria-label': word('enterNamed', nameOf(one)),
    }),
    button(word('beside'), () => deeds.beside(one.episode), {
      id: `beside-${at}`,
      'aria-label': word('besideNamed', nameOf(one)),
      'aria-pressed': String(beside),
    }),
  );
}
