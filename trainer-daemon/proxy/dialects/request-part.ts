/** Reading one object of a request field by field: wrong types are refused by their path, unread fields are kept. */
import { RefusedRequest } from './contract.ts';

/** More distinct fields than this are not kept apart. */
const MOST_FIELDS = 200;

/** What of a request the chat form has no place for. */
export class Untranslated {
  /** By its path, list positions left out (`tools[].cache_control`); the first value counts. */
  readonly fields = new Map<string, unknown>();
  /** Paths of what a person should hear of: it might have meant something to the planner. */
  readonly notable = new Set<string>();
  /** Paths of fields that nobody here knows and that are sent on as they came. */
  passedOn: readonly string[] = [];

  add(path: string, value: unknown, notable: boolean): void {
    if (this.fields.has(path) || this.fields.size >= MOST_FIELDS) return;
    this.fields.set(path, value);
    if (notable) this.notable.add(path);
  }
}

/** Of a request that is sent on as it is: nothing is left out, but a person should hear of these fields. */
export function passedOn(paths: readonly string[]): Untranslated {
  const untranslated = new Untranslated();
  untranslated.passedOn = paths;
  return untranslated;
}

export class RequestPart {
  /** Where it is, for messages: `messages[3].content[0]`; empty at the top. */
  readonly path: string;
  private readonly fields: Record<string, unknown>;
  private readonly unread: Set<string>;
  private readonly untranslated: Untranslated;

  /** @throws RefusedRequest when it is no object. */
  constructor(value: unknown, path: string, untranslated: Untranslated) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new RefusedRequest('invalid_request', `${path || 'the request'} must be an object`);
    this.path = path;
    this.fields = value as Record<string, unknown>;
    this.unread = new Set(Object.keys(value));
    this.untranslated = untranslated;
  }

  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  refuse(key: string, problem: string): RefusedRequest {
    return new RefusedRequest('invalid_request', `${this.at(key)} ${problem}`);
  }

  /** The object itself, as it came; nothing of it is unknown then. */
  whole(): Record<string, unknown> {
    this.unread.clear();
    return this.fields;
  }

  /** Any value; undefined when it is absent or null. */
  value(key: string): unknown {
    this.unread.delete(key);
    return Object.hasOwn(this.fields, key) ? (this.fields[key] ?? undefined) : undefined;
  }

  text(key: string): string {
    const value = this.value(key);
    if (typeof value !== 'string') throw this.refuse(key, 'must be a string');
    return value;
  }

  textIfAny(key: string): string | undefined {
    return this.value(key) === undefined ? undefined : this.text(key);
  }

  numberIfAny(key: string): number | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') throw this.refuse(key, 'must be a number');
    return value;
  }

  /** A whole number of at least 1. */
  countIfAny(key: string): number | undefined {
    const value = this.numberIfAny(key);
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw this.refuse(key, 'must be a whole number of at least 1');
    return value;
  }

  truthIfAny(key: string): boolean | undefined {
    const value = this.value(key);
    if (value !== undefined && typeof value !== 'boolean') throw this.refuse(key, 'must be true or false');
    return value;
  }

  list(key: string): unknown[] {
    const value = this.value(key);
    if (!Array.isArray(value)) throw this.refuse(key, 'must be a list');
    return value;
  }

  listIfAny(key: string): unknown[] | undefined {
    return this.value(key) === undefined ? undefined : this.list(key);
  }

  textsIfAny(key: string): string[] | undefined {
    return this.listIfAny(key)?.map((each) => {
      if (typeof each !== 'string') throw this.refuse(key, 'must be a list of strings');
      return each;
    });
  }

  /** An object inside this one. */
  part(key: string): RequestPart {
    return new RequestPart(this.value(key), this.at(key), this.untranslated);
  }

  partIfAny(key: string): RequestPart | undefined {
    return this.value(key) === undefined ? undefined : this.part(key);
  }

  /** The objects of a list. */
  parts(key: string): RequestPart[] {
    return this.list(key).map((each, i) => new RequestPart(each, `${this.at(key)}[${i}]`, this.untranslated));
  }

  partsIfAny(key: string): RequestPart[] | undefined {
    return this.value(key) === undefined ? undefined : this.parts(key);
  }

  /** Known fields that mean nothing here, whatever they hold (`cache_control`). */
  ignore(...keys: string[]): void {
    for (const key of keys) this.unread.delete(key);
  }

  /** Known fields without a place in the chat form: kept in the record, no word about them. */
  keep(...keys: string[]): void {
    for (const key of keys) this.aside(key, false);
  }

  /** A field (or its value of that kind) that might have meant something: kept in the record and told of. */
  keepAndTell(key: string, value: unknown = this.value(key)): void {
    if (value !== undefined) this.untranslated.add(placeOf(this.at(key)), value, true);
  }

  /** The last word on this object: what was not read is unknown; it is kept in the record and told of. */
  end(): void {
    for (const key of [...this.unread]) this.aside(key, true);
  }

  private aside(key: string, notable: boolean): void {
    const value = this.value(key);
    if (value !== undefined) this.untranslated.add(placeOf(this.at(key)), value, notable);
  }
}

/** `messages[3].content[0].x` -> `messages[].content[].x` */
function placeOf(path: string): string {
  return path.replace(/\[\d+\]/g, '[]').slice(0, 200);
}
