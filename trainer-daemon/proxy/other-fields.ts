/**
 * What a reply says in fields that are not known here, put together for the record from a whole reply or from a stream's
 * chunks. It is bounded in size and depth, and what is left out is marked: a server decides what stands there.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ResolvedCall } from '../../protocol/records.ts';
import type { ReplyField } from './dialects/known-fields.ts';

export type OtherOfResponse = NonNullable<ResolvedCall['responseOther']>;

/** Characters kept of a call, names included; every value counts for a few more. */
const MOST_KEPT = 64 * 1024;
const EACH = 8;
/** Values inside of more values than this are replaced by the mark. */
const DEEPEST = 32;
/** Stands where something was left out. */
export const CUT = '…[cut]';

export class OtherFields {
  private readonly fields = new Map<string, { path: string; value: unknown }>();
  private room = MOST_KEPT;
  private cut = false;

  /**
   * Takes fields of a reply or of a chunk. Of those that come again, in a message texts and lists go on (it is a delta
   * then); elsewhere the last one holds, and a list that does not begin as before goes on. Objects are joined by their
   * names, and entries of lists by their `index` where they have one.
   */
  add(fields: readonly ReplyField[]): void {
    for (const { path, value, place, name } of fields) {
      const key = `${place} ${name}`;
      const known = this.fields.get(key);
      if (known !== undefined) known.value = this.merged(known.value, value, 0, place === 'message');
      else if (this.pays(path.length)) this.fields.set(key, { path, value: this.copy(value, 0) });
    }
  }

  /** What has come so far; undefined when nothing has. */
  soFar(): OtherOfResponse | undefined {
    if (this.fields.size === 0 && !this.cut) return undefined;
    return { fields: [...this.fields.values()], ...(this.cut ? { cut: true as const } : {}) };
  }

  /** Whether there is room for one more value and so many characters. */
  private pays(characters: number): boolean {
    this.room -= characters + EACH;
    if (this.room >= 0) return true;
    this.room = 0;
    this.cut = true;
    return false;
  }

  private copy(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    // JSON has no word for a number beyond double precision.
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= DEEPEST) {
      this.cut = true;
      return CUT;
    }
    if (Array.isArray(value)) return this.addEntries([], value, 0, depth);
    return this.addNames({}, value as Record<string, unknown>, depth, false);
  }

  private text(value: string): string {
    if (value.length <= this.room) {
      this.room -= value.length;
      return value;
    }
    const kept = value.slice(0, this.room) + CUT;
    this.room = 0;
    this.cut = true;
    return kept;
  }

  private merged(known: unknown, value: unknown, depth: number, isDelta: boolean): unknown {
    if (typeof known === 'string' && typeof value === 'string') {
      if (isDelta) return this.room > 0 || value === '' ? known + this.text(value) : this.full(known);
      if (known === value) return known;
      this.room += known.length - (known.endsWith(CUT) ? CUT.length : 0);
      return this.text(value);
    }
    if (Array.isArray(known) && Array.isArray(value)) {
      const repeats = !isDelta && known.every((each, i) => isDeepStrictEqual(each, value[i]));
      if (repeats) return this.addEntries(known, value, known.length, depth);
      return this.addIndexed(known, value, depth, isDelta);
    }
    if (isObject(known) && isObject(value)) return this.addNames(known, value, depth, isDelta);
    return this.copy(value, depth);
  }

  /** A text that takes nothing more. */
  private full(known: string): string {
    this.cut = true;
    return known.endsWith(CUT) ? known : known + CUT;
  }

  private addEntries(target: unknown[], values: readonly unknown[], from: number, depth: number): unknown[] {
    for (let i = from; i < values.length && this.pays(0); i++) target.push(this.copy(values[i], depth + 1));
    return target;
  }

  private addIndexed(target: unknown[], values: readonly unknown[], depth: number, isDelta: boolean): unknown[] {
    const places = new Map(target.map((each, i) => [indexOf(each), i]));
    for (const value of values) {
      const at = places.get(indexOf(value));
      if (at !== undefined && indexOf(value) !== undefined)
        target[at] = this.merged(target[at], value, depth + 1, isDelta);
      else if (this.pays(0)) places.set(indexOf(value), target.push(this.copy(value, depth + 1)) - 1);
      else break;
    }
    return target;
  }

  private addNames(
    target: Record<string, unknown>,
    source: Record<string, unknown>,
    depth: number,
    isDelta: boolean,
  ): Record<string, unknown> {
    for (const name in source) {
      const known = Object.hasOwn(target, name);
      if (!known && !this.pays(name.length)) break;
      const value = known
        ? this.merged(target[name], source[name], depth + 1, isDelta)
        : this.copy(source[name], depth + 1);
      // Not by assignment: a field may be called __proto__.
      Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return target;
  }
}

function indexOf(value: unknown): number | undefined {
  const index = isObject(value) && Object.hasOwn(value, 'index') ? value.index : undefined;
  return Number.isInteger(index) ? (index as number) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
