/** What the keys of the replay do. */

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
