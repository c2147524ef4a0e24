/** The fields of an adapter's objects with their places, for hovers and hints. */
import type ts from 'typescript6';
import type { AdapterOptions } from '../contract.ts';
import { type Analysis, attempt, begin } from './analysis.ts';
import { parseAdapter, type Syntax } from './syntax.ts';
import { type ObjectShape, placeOf } from './values.ts';

export type Owner = 'adapter' | 'outcome' | 'launch' | 'process';

export interface FieldPlace {
  owner: Owner;
  name: string;
  nameNode: ts.Node;
  valueNode: ts.Node;
}

export interface Fields {
  syntax: Syntax;
  analysis: Analysis;
  fields: FieldPlace[];
}

/** Undefined where the text cannot be analysed. */
export function fieldsOf(text: string, options: AdapterOptions): Fields | undefined {
  const syntax = parseAdapter(text, options);
  if ('refused' in syntax) return undefined;
  let result: Fields | undefined;
  attempt(() => {
    const analysis = begin(syntax, options);
    const fields: FieldPlace[] = [];
    const add = (owner: Owner, object: ObjectShape | undefined) => {
      for (const [name, property] of object?.properties ?? [])
        fields.push({ owner, name, nameNode: property.name, valueNode: placeOf(property) });
    };
    add('adapter', analysis.adapter?.object);
    for (const { value } of analysis.outcome?.cases ?? []) add('outcome', value.object);
    for (const { value } of analysis.launch?.cases ?? []) {
      const worker = value.object?.properties.get('worker')?.value().object;
      add(worker ? 'launch' : 'process', value.object);
      add('process', worker);
    }
    result = { syntax, analysis, fields };
  });
  return result;
}
