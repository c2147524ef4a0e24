/** The lines of a call as they are shown on a screen: broken to its width, each with what it is. */
import { isDamaged } from '../../recordings/index.ts';
import type { ReplayCall, ReplayEpisode, TranscriptSection } from '../../recordings/replay/index.ts';
import { shownInLine } from '../../recordings/replay/index.ts';
import { type ReplayToken, tokensOf } from '../../recordings/replay/tokens.ts';
import { vocabularyOf } from '../../recordings/replay/vocabulary.ts';
import { breakLine, padTo } from './columns.ts';
import type { Line, Style } from './full-screen.ts';

export interface BodyRow {
  line: Line;
  /** Line of the text that it belongs to. */
  source: number;
}

const STYLES: Partial<Record<TranscriptSection['blocks'][number]['kind'], Style>> = {
  problem: 'red',
  action: 'green',
  result: 'green',
};

/** Heads of a call in bold, labels by what they are, recorded text plain. */
export function callRows({ lines, blocks }: TranscriptSection, columns: number): BodyRow[] {
  const styles = new Map<number, Style>([[0, 'bold']]);
  // Cells of code have no label of their own: their line is the planner's text.
  for (const { from, kind } of blocks)
    if (lines[from]?.startsWith('  ') && !lines[from].startsWith('    ')) styles.set(from, STYLES[kind] ?? 'dim');
  return lines.flatMap((text, source) => {
    const style = styles.get(source) ?? 'plain';
    return breakLine(text, columns).map((part) => ({ line: [{ text: part, style }], source }));
  });
}

export function messageRows(lines: readonly string[], columns: number): BodyRow[] {
  return lines.flatMap((text, source) => breakLine(text, columns).map((part) => ({ line: [{ text: part }], source })));
}

/** Widths of number, id, the log-probs, w and the clipping. */
const NUMBER = 5;
const ID = 8;
const LOG = 9;
const WEIGHT = 8;
const CLIP = 6;

/** The tokens of a response, one a line. */
export async function tokenRows(episode: ReplayEpisode, told: ReplayCall, columns: number): Promise<BodyRow[]> {
  if (isDamaged(told.call)) return messageRows([`The call is damaged: ${told.call.damaged}`], columns);
  const tokens = tokensOf(told, await vocabularyOf(episode.recording, told.call.policyVersion));
  if (tokens.length === 0) return messageRows(['The server told no tokens of this response.'], columns);
  const text = Math.max(4, columns - NUMBER - ID - 3 * LOG - WEIGHT - CLIP - 2);
  const row = (cells: string[], style: Style): Line => [
    {
      text: [
        padTo(cells[0], NUMBER, 'right'),
        padTo(cells[1], ID, 'right'),
        `  ${padTo(cells[2], text)}`,
        ...cells.slice(3, 6).map((cell) => padTo(cell, LOG, 'right')),
        padTo(cells[6], WEIGHT, 'right'),
        padTo(cells[7], CLIP, 'right'),
      ].join(''),
      style,
    },
  ];
  const head = row(['', 'id', 'token', 'log b', 'log q', 'log p', 'w', 'clip'], 'bold');
  return [
    { line: head, source: 0 },
    ...tokens.map((token, k) => ({ line: row(cellsOf(token, k), heatOf(token)), source: k + 1 })),
  ];
}

function cellsOf({ id, text, logb, logq, logp, w, clipped }: ReplayToken, k: number): string[] {
  const log = (value: number | null) => (value === null ? '-' : value.toFixed(4));
  const told = text === null ? '' : shownInLine(text).replaceAll(' ', '·');
  return [
    String(k),
    String(id),
    told,
    log(logb),
    log(logq),
    log(logp),
    w === null ? '-' : w.toFixed(3),
    clipped ?? '-',
  ];
}

/** Less likely than one in seven, than one in two. */
function heatOf({ logb }: ReplayToken): Style {
  if (logb === null) return 'plain';
  return logb < -2 ? 'red' : logb < -0.7 ? 'yellow' : 'plain';
}
