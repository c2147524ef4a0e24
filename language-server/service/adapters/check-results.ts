/** What a check on recorded outputs found, shown at the fields it is about. */
import { sha256 } from '../../../protocol/random.ts';
import type { AdapterCheckOutput, AdapterCheckResult, AdapterOptions, Finding, InlayHint } from '../contract.ts';
import { ADAPTER_CODES } from './codes.ts';
import { type FieldPlace, type Fields, fieldsOf } from './fields-at.ts';
import { FIVE_FIELDS } from './rules/shape.ts';

/** At each of the five fields what it became; marked where the text has changed since the check. */
export function adapterInlays(text: string, check?: AdapterCheckResult, options: AdapterOptions = {}): InlayHint[] {
  if (!check || check.outputs.length === 0) return [];
  const found = fieldsOf(text, options);
  if (!found) return [];
  const stale = isStale(text, check);
  return FIVE_FIELDS.flatMap((name) => {
    const field = fieldNamed(found, name);
    if (!field) return [];
    const told = summary(name, check.outputs);
    return {
      position: found.syntax.range(field.valueNode).end,
      label: stale ? ` ${told} (before the last change)` : ` ${told}`,
      tooltip: stale
        ? 'The text has changed since the outputs were checked. Check them again.'
        : check.outputs.map((output) => `${folderName(output)}: ${valueText(name, output)}`).join('\n'),
    };
  }).sort((a, b) => a.position.line - b.position.line || a.position.character - b.position.character);
}

/** An error at the field that recorded outputs break; none once the text has changed. */
export function adapterCheckFindings(text: string, check: AdapterCheckResult, options: AdapterOptions = {}): Finding[] {
  const broken = check.outputs.filter((output) => output.problem !== null);
  if (broken.length === 0 || isStale(text, check)) return [];
  const found = fieldsOf(text, options);
  if (!found) return [];
  const groups = new Map<string, AdapterCheckOutput[]>();
  for (const output of broken) {
    const field = fieldOfProblem(output.problem ?? '');
    groups.set(field, [...(groups.get(field) ?? []), output]);
  }
  return [...groups].flatMap(([name, outputs]) => {
    const field =
      fieldNamed(found, name) ?? found.fields.find((each) => each.owner === 'adapter' && each.name === 'outcome');
    if (!field) return [];
    const [first, ...more] = outputs;
    const others = more.length === 0 ? '' : ` (and in ${more.length} further output${more.length === 1 ? '' : 's'})`;
    const range = found.syntax.range(field.owner === 'outcome' ? field.valueNode : field.nameNode);
    const code = 'adapter-output-failed';
    return { code, severity: ADAPTER_CODES[code], message: `${folderName(first)}: ${first.problem}${others}`, range };
  });
}

/** The check was made on another text. */
function isStale(text: string, { adapter }: AdapterCheckResult): boolean {
  // Editors hide a byte-order mark that the file on disk has.
  return sha256(text) !== adapter.sha256 && sha256(`\uFEFF${text}`) !== adapter.sha256;
}

/** The field in the last outcome that has it: where the episode came to its end. */
function fieldNamed({ fields }: Fields, name: string): FieldPlace | undefined {
  return fields.filter((field) => field.owner === 'outcome' && field.name === name).at(-1);
}

function fieldOfProblem(problem: string): string {
  const named = /(?:^|[\s;:])(task|init|attempt|reward|valid|trajectory|successTurn|invalidReason)(?: became|:)/.exec(
    problem,
  );
  return named?.[1] ?? 'outcome';
}

function folderName({ directory }: AdapterCheckOutput): string {
  return directory.split(/[\\/]/).filter(Boolean).at(-1) ?? directory;
}

function valueText(name: string, { outcome }: AdapterCheckOutput): string {
  return outcome === null ? 'undefined' : (JSON.stringify(outcome[name as keyof typeof outcome]) ?? 'undefined');
}

/** `reward = 1 (3 of 4 outputs), undefined in trial_07`. */
function summary(name: string, outputs: readonly AdapterCheckOutput[]): string {
  const groups = new Map<string, AdapterCheckOutput[]>();
  for (const output of outputs) {
    const value = valueText(name, output);
    groups.set(value, [...(groups.get(value) ?? []), output]);
  }
  const [first, ...rest] = [...groups].sort((a, b) => b[1].length - a[1].length);
  const all = outputs.length;
  const share = groups.size === 1 ? '' : ` (${first[1].length} of ${all} outputs)`;
  const shown = rest.slice(0, 2).map(([value, group]) => {
    const where = group.length === 1 ? `in ${folderName(group[0])}` : `in ${group.length}`;
    return `${value} ${where}`;
  });
  const more = rest.length > 2 ? [`${rest.length - 2} more values`] : [];
  return [`${name} = ${first[0]}${share}`, ...shown, ...more].join(', ');
}
