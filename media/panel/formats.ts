/** Numbers and times as the reader's language writes them. */

const language = () => document.documentElement.lang || 'en';

export function percent(share: number): string {
  return new Intl.NumberFormat(language(), { style: 'percent', maximumFractionDigits: 1 }).format(share);
}

export function whole(value: number): string {
  return new Intl.NumberFormat(language(), { maximumFractionDigits: 0 }).format(value);
}

/** Four digits that count; very large and very small ones with a power of ten. */
export function figure(value: number): string {
  const size = Math.abs(value);
  const notation = size !== 0 && (size < 1e-3 || size >= 1e6) ? 'scientific' : 'standard';
  return new Intl.NumberFormat(language(), { maximumSignificantDigits: 4, notation }).format(value);
}

/** p-values: three places, and no zero. */
export function probability(p: number): string {
  const places = { minimumFractionDigits: 3, maximumFractionDigits: 3 };
  return p < 0.0005
    ? `< ${new Intl.NumberFormat(language(), places).format(0.001)}`
    : new Intl.NumberFormat(language(), places).format(p);
}

/** `2 h 5 min`, `3 min`, `40 s` */
export function duration(seconds: number): string {
  const unit = (value: number, name: 'hour' | 'minute' | 'second') =>
    new Intl.NumberFormat(language(), { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  const all = Math.max(0, Math.round(seconds));
  if (all < 60) return unit(all, 'second');
  const minutes = Math.round(all / 60);
  if (minutes < 60) return unit(minutes, 'minute');
  const rest = minutes % 60;
  return unit(Math.floor(minutes / 60), 'hour') + (rest > 0 ? ` ${unit(rest, 'minute')}` : '');
}

/** Date and time of an ISO text; the text itself when it is none. */
export function moment(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'medium' }).format(at);
}
