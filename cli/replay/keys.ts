/** What the keys of the replay do, and those of the list that it is picked from. */

export const HINTS = '←→ calls · ↑↓ scroll · n p attempts · t tokens · c context · g / ? q';

export const HELP = [
  'left, right     the call before, the next call; after the last one the outcome',
  'home, end       the first call; the outcome, or the newest call, which is then followed',
  'up, down        scroll; page up, page down and space by pages',
  'n, p            the next, the previous attempt at the same task and initial state',
  't               the tokens of the response: log b of the server, log q and log p of the',
  '                trainer, importance weight w, and where it was clipped',
  'c               the whole request, or only what is new in it',
  'g               go to a turn',
  '/               search; an empty search goes on with the last one',
  'escape          back to the text',
  'q, Ctrl-C       quit',
  '',
  'A line that begins at the margin heads a call, one indented by two labels what follows,',
  'and recorded text is indented by four. Characters that are not seen, such as those that',
  'steer a terminal, are shown as marks: ␛ is an escape.',
];

export const PICKER_HINTS = '↑↓ choose · return opens · / filters · ? keys · q quits';

export const PICKER_HELP = [
  'up, down        the episode before, the next one (k, j)',
  'page up, down   by pages; space is page down',
  'home, end       the first episode, the last one',
  'return          replays the episode',
  '/               only episodes with a text in their line: section, reward, task, state,',
  '                attempt; return ends typing, and replays the episode if it is the only one',
  'escape          all episodes again',
  '?               these keys, and back to the list',
  'q, Ctrl-C       quit',
];
