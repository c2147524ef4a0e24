/** Walks the config's schema: which keys there are, and what each takes in words. Feeds messages, docs and completion. */
import type { z } from 'zod';
import { configSchema, type KeyMeta } from './config.ts';

export type SchemaPath = (string | number)[];

/** One key of the config. */
export interface ConfigKey {
  /** Dotted path, for example `rl.clip.dual`. */
  path: string;
  /** A section holds further keys and has no value of its own. */
  section: boolean;
  required: boolean;
  /** For example `a whole number, 1 or more`. */
  takes: string;
  /** The default as JSON; undefined when there is none. */
  defaultText?: string;
  meaning: string;
  source?: string;
  unit?: string;
}

/** What zod keeps about a schema, as far as it is read here. */
interface Definition {
  type: string;
  format?: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  items?: z.ZodType[];
  options?: z.ZodType[];
  entries?: Record<string, string>;
  values?: unknown[];
  defaultValue?: unknown;
  shape?: Record<string, z.ZodType>;
}
/** One of zod's checks: `greater_than`, `less_than`, `number_format` or `min_length`. */
interface Check {
  check: string;
  value?: number;
  inclusive?: boolean;
  minimum?: number;
}

const definition = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition;
const checksOf = (schema: z.ZodType): Check[] =>
  (schema._zod.def.checks ?? []).map((check) => check._zod.def as unknown as Check);

const WRAPPERS = ['default', 'prefault', 'optional', 'nullable'];

/** The schema under defaults, optionals and nullables. */
function unwrap(schema: z.ZodType): { inner: z.ZodType; nullable: boolean } {
  let inner = schema;
  let nullable = false;
  while (WRAPPERS.includes(definition(inner).type)) {
    nullable ||= definition(inner).type === 'nullable';
    inner = definition(inner).innerType as z.ZodType;
  }
  return { inner, nullable };
}

/** The fields of an object schema, through defaults and optionals; undefined for anything else. */
export function shapeOf(schema: z.ZodType | undefined): Record<string, z.ZodType> | undefined {
  return schema && definition(unwrap(schema).inner).shape;
}

/** The schema at a path; undefined where the config has no such key. */
export function schemaAt(path: SchemaPath): z.ZodType | undefined {
  let at: z.ZodType | undefined = configSchema;
  for (const step of path) {
    if (!at) return undefined;
    const def: Definition = definition(unwrap(at).inner);
    if (def.shape) at = Object.hasOwn(def.shape, String(step)) ? def.shape[String(step)] : undefined;
    else if (def.type === 'record') at = def.valueType;
    else if (def.type === 'array') at = def.element;
    else if (def.type === 'tuple') at = def.items?.[Number(step)];
    else if (def.type === 'union')
      at = def.options?.map((option) => definition(option)).find((option) => option.type === 'record')?.valueType;
    else at = undefined;
  }
  return at;
}

/** Keys the schema knows at a path. */
export function knownKeys(path: SchemaPath): string[] {
  return Object.keys(shapeOf(schemaAt(path)) ?? {});
}

/** Words an enum (or a literal) at this schema allows; empty for other types. */
export function allowedWords(schema: z.ZodType): string[] {
  const { inner } = unwrap(schema);
  const def = definition(inner);
  if (def.type === 'enum') return Object.values(def.entries ?? {});
  if (def.type === 'literal') return (def.values ?? []).filter((value) => typeof value === 'string');
  if (def.type === 'union') return (def.options ?? []).flatMap(allowedWords);
  return [];
}

/** What a value must be, as it follows "must be": `a whole number, 1 or more`. */
export function wording(schema: z.ZodType): string {
  const { inner, nullable } = unwrap(schema);
  const own = inner.meta()?.wording ?? definition(inner).in?.meta()?.wording;
  const words = typeof own === 'string' ? own : typeWording(inner);
  return nullable ? `${words}, or null` : words;
}

function typeWording(schema: z.ZodType): string {
  const def = definition(schema);
  switch (def.type) {
    case 'number':
      return numberWording(checksOf(schema));
    case 'string':
      return def.format === 'url' ? 'a URL such as http://127.0.0.1:8000/v1' : 'text';
    case 'boolean':
      return 'true or false';
    case 'enum': {
      const words = Object.values(def.entries ?? {});
      return words.length === 1 ? words[0] : `one of ${words.join(', ')}`;
    }
    case 'literal':
      return (def.values ?? []).map(String).join(' or ');
    case 'array': {
      const least = checksOf(schema).find((check) => check.check === 'min_length')?.minimum;
      const element = wording(def.element as z.ZodType);
      return `a list of ${plural(element)}${least ? `, at least ${least === 1 ? 'one' : least}` : ''}`;
    }
    case 'tuple':
      return `a list of ${def.items?.length} values, each ${wording((def.items as z.ZodType[])[0])}`;
    case 'record':
      return `a mapping of names, each to ${wording(def.valueType as z.ZodType)}`;
    case 'object':
      return `a mapping with the keys ${Object.keys(def.shape ?? {}).join(', ')}`;
    case 'union':
      return (def.options ?? []).map(wording).join(', or ');
    case 'pipe':
      return wording(def.in as z.ZodType);
    default:
      return def.type;
  }
}

function plural(words: string): string {
  return words === 'text' ? 'texts' : words.replace(/^an? (\S+?)(,|$)/, '$1s$2');
}

function numberWording(checks: Check[]): string {
  const whole = checks.some((check) => check.check === 'number_format');
  const noun = whole ? 'a whole number' : 'a number';
  const low = checks.find((check) => check.check === 'greater_than');
  const high = checks.find((check) => check.check === 'less_than');
  const least = low?.inclusive ? low.value : whole && low?.value !== undefined ? low.value + 1 : undefined;
  if (least !== undefined && high) return `${noun} from ${least} to ${high.inclusive ? '' : 'below '}${high.value}`;
  if (least !== undefined) return `${noun}, ${least} or more`;
  if (low && high) return `${noun} above ${low.value} and ${high.inclusive ? 'at most' : 'below'} ${high.value}`;
  if (low) return `${noun} above ${low.value}`;
  return high ? `${noun} ${high.inclusive ? 'of at most' : 'below'} ${high.value}` : noun;
}

/** Every key of the config in the schema's order, sections before their keys. */
export function configKeys(): ConfigKey[] {
  const keys: ConfigKey[] = [];
  const walk = (shape: Record<string, z.ZodType>, prefix: string) => {
    for (const [name, schema] of Object.entries(shape)) {
      const path = prefix + name;
      const inner = shapeOf(schema);
      const section = inner !== undefined && !unwrap(schema).nullable;
      const meta = (schema.meta() ?? {}) as Partial<KeyMeta>;
      const { required, value } = defaultOf(schema);
      keys.push({
        path,
        section,
        required,
        takes: section ? '' : wording(schema),
        defaultText: section || value === undefined ? undefined : JSON.stringify(value),
        meaning: meta.description ?? '',
        source: meta.source,
        unit: meta.unit,
      });
      if (inner) walk(inner, `${path}.`);
    }
  };
  walk(configSchema.shape as Record<string, z.ZodType>, '');
  return keys;
}

function defaultOf(schema: z.ZodType): { required: boolean; value?: unknown } {
  for (let at: z.ZodType | undefined = schema; at; at = definition(at).innerType) {
    const def = definition(at);
    if (def.type === 'default' || def.type === 'prefault') return { required: false, value: def.defaultValue };
    if (def.type === 'optional') return { required: false };
  }
  return { required: true };
}
