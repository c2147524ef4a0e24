/** Values of the plots' columns as texts. */
import type { Column } from '../../extension/run-page/plots.ts';
import { figure, percent, whole } from '../panel/formats.ts';

/** A value of a column; empty where there is none. */
export function valueText(value: number | null | undefined, kind: Column['kind']): string {
  if (value === null || value === undefined) return '';
  if (kind === 'share') return percent(value);
  return kind === 'count' ? whole(value) : figure(value);
}
