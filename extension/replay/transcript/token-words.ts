/** What is known of a token, and of the tokens of a text, in words. Knows nothing of VS Code. */
import { type ReplayToken, ratioOf, shownInLine } from '../../../recordings/replay/index.ts';
import { numberWords } from './credit.ts';

/** One a line, for a hover. @param place of the token in the response, from 0. */
export function tokenLines(token: ReplayToken, place: number, of: number): string[] {
  const { id, text, logb, logq, logp, w, clipped } = token;
  const ratio = ratioOf(token);
  const known = (name: string, value: number | null, more = '') =>
    value === null ? [] : [`${name.padEnd(8)} ${numberWords(value)}${more}`];
  const chance = (value: number | null) => (value === null ? '' : ` (${numberWords(Math.exp(value))})`);
  return [
    `token ${place + 1} of ${of}: ${text === null ? '?' : JSON.stringify(shownInLine(text, 80))}, id ${id}`,
    ...known('log b', logb, chance(logb)),
    ...known('log q', logq, chance(logq)),
    ...known('log p', logp, chance(logp)),
    ...known('p/b', ratio),
    ...known('w', w),
    ...(clipped === null ? [] : [`clipped  ${clipped === '' ? 'no' : clipped}`]),
  ];
}

/** How many tokens, their mean log b, and how many were clipped: null where not known. */
export function summaryOf(tokens: readonly ReplayToken[]): {
  count: number;
  logb: number | null;
  clipped: number | null;
} {
  const logs = tokens.flatMap(({ logb }) => (logb === null ? [] : [logb]));
  const scored = tokens.filter(({ clipped }) => clipped !== null);
  return {
    count: tokens.length,
    logb: logs.length === 0 ? null : logs.reduce((sum, value) => sum + value, 0) / logs.length,
    clipped: scored.length === 0 ? null : scored.filter(({ clipped }) => clipped !== '').length,
  };
}
