/** Numbers as people read them. */
import { approximate } from '../../protocol/counting.ts';

export { approximate, plural } from '../../protocol/counting.ts';

/** `850 ms`, `42 s`, `3 min 05 s`, `2 h 07 min`, `3 d 4 h` */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?';
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.5) return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `0 B`, `512 B`, `1.5 KB`, `23 MB` in powers of 1000. */
export function bytes(count: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  if (count >= 1e21) return `${approximate(count / 1e18)} EB`;
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `12,345` */
export function whole(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** `37.5%` of a share; `-` where there is nothing to divide by. */
export function percent(part: number, total: number): string {
  return total > 0 ? `${((100 * part) / total).toFixed(1)}%` : '-';
}

/** Text cut to a width, with an ellipsis. */
export function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
