/** Scopes of a frame and the variables in them, handed out by reference and in pages. References end with the next move. */
import type { DebugProtocol as Dap } from '@vscode/debugprotocol';
import { isDamaged } from '../../../recordings/index.ts';
import {
  type FactLevel,
  type FactPlace,
  type FactScope,
  facts,
  parseCondition,
  valueAt,
} from '../../../recordings/replay/facts.ts';
import type { Language } from './host.ts';
import { isCompound, partsOf, partText, typeOf, valueText, wholeText } from './values.ts';

/** What a reference stands for: named values, and a list of values. */
interface Container {
  named: Entry[];
  indexed: readonly unknown[];
  /** Expression of the list, for the names of its items. */
  path: string;
  place: FactPlace;
  /** The list is a long text in parts. */
  parts?: boolean;
}

interface Entry {
  name: string;
  value: unknown;
  /** Expression that gives the value; empty where none does. */
  path: string;
}

export class Variables {
  private readonly language: Language;
  private readonly containers: Container[] = [];

  constructor(language: Language) {
    this.language = language;
  }

  /** Forgets all references. */
  clear(): void {
    this.containers.length = 0;
  }

  /** The scopes of a frame that stands at a place. */
  async scopes(place: FactPlace): Promise<Dap.Scope[]> {
    const l10n = this.language;
    const scopes: Dap.Scope[] = [];
    if (typeof place.part === 'number') {
      const name = place.call?.toolCalls[place.part]?.kind === 'cell' ? l10n.t('Code Cell') : l10n.t('Tool Call');
      scopes.push(await this.scope(name, place, ['response'], ['part']));
    }
    if (place.part !== 'outcome') {
      scopes.push(await this.scope(l10n.t('Context'), place, ['context'], ['call']));
      scopes.push(await this.scope(l10n.t('Response'), place, ['response'], ['call']));
      scopes.push(await this.scope(l10n.t('Tokens'), place, ['tokens'], ['call'], 'token'));
    }
    scopes.push(await this.scope(l10n.t('Outcome'), place, ['outcome'], ['episode']));
    scopes.push(await this.scope(l10n.t('Credit'), place, ['credit'], ['call', 'episode']));
    return scopes;
  }

  /** @param list name of the fact whose items are the scope's own. */
  private async scope(name: string, place: FactPlace, scopes: FactScope[], levels: FactLevel[], list?: string) {
    const damaged = await facts.damaged.of(place);
    const unread = place.call !== null && isDamaged(place.call.call);
    const named: Entry[] = [];
    let indexed: readonly unknown[] = [];
    for (const [fact, { level, scope, of }] of Object.entries(facts)) {
      if (!scopes.includes(scope) || !levels.includes(level)) continue;
      if (place.part === 'outcome' && level !== 'episode') continue;
      if (fact === 'damaged' && damaged === null) continue;
      // Nothing is known of a damaged call, nor of an outcome where there is none; one line says why.
      if (level === 'call' && unread && fact !== 'damaged' && fact !== 'problems') continue;
      if (
        scope === 'outcome' &&
        (fact === 'noRecord') !== (place.episode.outcome.record === null) &&
        fact !== 'episode'
      )
        continue;
      const value = (await of(place)) ?? null;
      if (fact === 'problems' && (value as unknown[]).length === 0) continue;
      if (fact === list) indexed = Array.isArray(value) ? value : [];
      else named.push({ name: fact, value, path: fact });
    }
    const variablesReference = this.reference({ named, indexed, path: list ?? '', place });
    return {
      ...{ name, variablesReference, expensive: false },
      ...{ namedVariables: named.length, indexedVariables: indexed.length },
      ...(name === this.language.t('Response') ? { presentationHint: 'locals' } : {}),
    };
  }

  /** The variables of a reference. @throws Error for a reference of a position that was left. */
  list({ variablesReference, filter, start = 0, count }: Dap.VariablesArguments): Dap.Variable[] {
    const { named, indexed, path, place, parts } = this.container(variablesReference);
    const page = <T>(all: readonly T[], from = start) => all.slice(from, count ? from + count : undefined);
    const items = (from: number) =>
      page(indexed, from).map((value, k) =>
        parts
          ? partVariable(`${from + k}`, value as string)
          : this.variable({ name: `${from + k}`, value, path: path && `${path}[${from + k}]` }, place),
      );
    if (filter === 'indexed') return items(start);
    if (filter === 'named') return page(named).map((entry) => this.variable(entry, place));
    return [...named.map((entry) => this.variable(entry, place)), ...items(0)].slice(
      start,
      count ? start + count : undefined,
    );
  }

  /** The expression that gives a variable of a reference; undefined when it has no such variable. */
  pathOf(variablesReference: number, name: string): string | undefined {
    const { named, indexed, path } = this.container(variablesReference);
    const index = /^\d+$/.test(name) ? Number(name) : Number.NaN;
    return (
      named.find((entry) => entry.name === name)?.path ??
      (path !== '' && index < indexed.length ? `${path}[${index}]` : undefined)
    );
  }

  /** @throws ExpressionError */
  async evaluate(text: string, place: FactPlace, whole: boolean): Promise<Dap.EvaluateResponse['body']> {
    const expression = parseCondition(text);
    const value = (await valueAt(expression, place)) ?? null;
    if (whole) return { result: wholeText(value), variablesReference: 0 };
    const {
      value: result,
      type,
      ...rest
    } = this.variable({ name: '', value, path: expression.isPath ? text.trim() : '' }, place);
    return { result, type, ...rest };
  }

  private variable({ name, value, path }: Entry, place: FactPlace): Dap.Variable {
    const told = {
      ...{ name, value: valueText(value), type: typeOf(value), ...(path === '' ? {} : { evaluateName: path }) },
      presentationHint: { kind: 'data', attributes: ['readOnly', ...(typeof value === 'string' ? ['rawString'] : [])] },
    };
    const parts = typeof value === 'string' ? partsOf(value) : undefined;
    if (typeof value === 'string' && parts) {
      const l10n = this.language;
      const hint = l10n.t('{0} characters: expand to read all of them, or use Copy Value', value.length);
      return {
        ...{ ...told, value: `${told.value} (${hint})` },
        variablesReference: this.reference({ named: [], indexed: parts, path: '', place, parts: true }),
        ...{ namedVariables: 0, indexedVariables: parts.length },
      };
    }
    if (!isCompound(value)) return { ...told, variablesReference: 0 };
    const indexed = Array.isArray(value) ? value : [];
    const named = Array.isArray(value)
      ? []
      : Object.entries(value).map(([key, inner]) => ({ name: key, value: inner, path: path && path + stepTo(key) }));
    return {
      ...told,
      variablesReference: this.reference({ named, indexed, path, place }),
      ...{ namedVariables: named.length, indexedVariables: indexed.length },
    };
  }

  private reference(container: Container): number {
    return this.containers.push(container);
  }

  private container(reference: number): Container {
    const container = this.containers[reference - 1];
    if (!container) throw new Error('these variables are of a position that was left');
    return container;
  }
}

function partVariable(name: string, part: string): Dap.Variable {
  const presentationHint = { kind: 'data', attributes: ['readOnly', 'rawString'] };
  return { name, value: partText(part), type: 'text', presentationHint, variablesReference: 0 };
}

function stepTo(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
