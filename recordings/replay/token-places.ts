/** Where the sampled tokens of a response stand in its section of the transcript, and how likely each was. */
import { shownPlaces } from './shown-text.ts';
import type { ReplayToken } from './tokens.ts';
import { TEXT_COLUMN, type TranscriptSection } from './transcript-section.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Part of a line; `line` counts from the section's first one, `end` is exclusive. */
export interface TokenRange {
  line: number;
  start: number;
  end: number;
}

export interface TokenPlace {
  /** Its place in the response. */
  token: number;
  /** The block it is in. */
  block: string;
  /** One a line. */
  ranges: TokenRange[];
}

/**
 * Finds tokens in the texts that a planner wrote. What a chat template puts around them (names of tools, control tokens) is not
 * in the section, nor are texts that were not kept as they were sampled: their tokens have no place.
 */
export function tokenPlaces(section: TranscriptSection, ids: readonly number[], vocabulary: Vocabulary): TokenPlace[] {
  const { text, ends } = vocabulary.decode(ids);
  const places: TokenPlace[] = [];
  let from = 0;
  for (const { key, source } of section.blocks) {
    if (!source || source.text === '') continue;
    const at = text.indexOf(source.text, from);
    if (at < 0) continue;
    from = at + source.text.length;
    const inside: { token: number; start: number; end: number }[] = [];
    for (let token = 0; token < ends.length; token++) {
      const start = Math.max(at, token === 0 ? 0 : ends[token - 1]) - at;
      const end = Math.min(from, ends[token]) - at;
      if (start < end) inside.push({ token, start, end });
    }
    const offsets = inside.flatMap(({ start, end }) => [start, end]);
    const shown = shownPlaces(source.text, offsets);
    inside.forEach(({ token }, k) => {
      const [start, end] = [shown[2 * k], shown[2 * k + 1]];
      const ranges: TokenRange[] = [];
      for (let line = start.line; line <= end.line; line++) {
        const { length } = section.lines[source.line + line] ?? '';
        const first = TEXT_COLUMN + (line === start.line ? start.column : 0);
        const last = line === end.line ? TEXT_COLUMN + end.column : length;
        if (first < last) ranges.push({ line: source.line + line, start: first, end: Math.min(last, length) });
      }
      if (ranges.length > 0) places.push({ token, block: key, ranges });
    });
  }
  return places;
}

/** What the heat of a token tells: how likely it was when it was sampled, or how much likelier training made it. */
export const HEATS = ['off', 'logprob', 'ratio'] as const;
export type Heat = (typeof HEATS)[number];

/** Steps of the heat; a token without one is unremarkable, or nothing is known. */
export const HEAT_LEVELS = [
  'unlikely1',
  'unlikely2',
  'unlikely3',
  'unlikely4',
  'up1',
  'up2',
  'down1',
  'down2',
] as const;
export type HeatLevel = (typeof HEAT_LEVELS)[number];

const UNLIKELY: [below: number, HeatLevel][] = [
  [0.01, 'unlikely4'],
  [0.1, 'unlikely3'],
  [0.5, 'unlikely2'],
  [0.9, 'unlikely1'],
];

/** p / b of a token: how much likelier it was at its optimizer step than when it was sampled. Null where unknown. */
export function ratioOf({ logp, logb }: ReplayToken): number | null {
  return logp === null || logb === null ? null : Math.exp(logp - logb);
}

export function heatLevel(token: ReplayToken, heat: Heat): HeatLevel | undefined {
  if (heat === 'off') return undefined;
  if (heat === 'logprob') {
    if (token.logb === null) return undefined;
    const b = Math.exp(token.logb);
    return UNLIKELY.find(([below]) => b < below)?.[1];
  }
  const ratio = ratioOf(token);
  if (ratio === null) return undefined;
  if (ratio > 1.1) return ratio > 1.5 ? 'up2' : 'up1';
  return ratio < 0.9 ? (ratio < 2 / 3 ? 'down2' : 'down1') : undefined;
}
