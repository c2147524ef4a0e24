/** Services for training configs in the words of the Language Server Protocol. */
import {
  type CompletionItem,
  CompletionItemKind,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  InsertTextFormat,
  type LocationLink,
  MarkupKind,
  SymbolKind,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Surroundings } from '../service/config-references.ts';
import {
  type ConfigFinding,
  type ConfigSymbol,
  type ConfigText,
  configCompletions,
  configDefinition,
  configFindings,
  configFolding,
  configSymbols,
  openConfig,
} from '../service/configs/index.ts';
import type { Position } from '../service/contract.ts';
import type { CheckpointLooks } from './checkpoints.ts';
import { fileSurroundings, type Shipped } from './surroundings.ts';
import { folderOf, uriIn } from './workspace-files.ts';

/** A config as opened in the editor, read once for each version. */
export interface OpenConfig {
  version: number;
  config: ConfigText;
  /** Absent where the document is not on disk. */
  around?: Surroundings;
  /** Filled in at first need. */
  findings?: ConfigFinding[];
}

/** Configs by document, as long as their version stands. */
export class OpenConfigs {
  readonly #open = new Map<string, OpenConfig>();
  readonly #shipped: Shipped;
  readonly #checkpoints: CheckpointLooks;

  constructor(shipped: Shipped, checkpoints: CheckpointLooks) {
    this.#shipped = shipped;
    this.#checkpoints = checkpoints;
  }

  of(document: TextDocument): OpenConfig {
    const known = this.#open.get(document.uri);
    if (known?.version === document.version) return known;
    const folder = folderOf(document.uri);
    const opened: OpenConfig = {
      version: document.version,
      config: openConfig(document.getText(), document.uri),
      // Without a folder the shipped lists still hold; every path is then taken to be there.
      around: folder === undefined ? undefined : this.#around(folder),
    };
    this.#open.set(document.uri, opened);
    return opened;
  }

  #around(folder: string): Surroundings {
    return fileSurroundings(folder, this.#shipped, (path, base) => this.#checkpoints.of(path, base));
  }

  findings(document: TextDocument): ConfigFinding[] {
    const opened = this.of(document);
    opened.findings ??= configFindings(opened.config, opened.around);
    return opened.findings;
  }

  /** Files around may have changed: findings are made anew. */
  forgetFindings(): void {
    for (const opened of this.#open.values()) opened.findings = undefined;
  }

  close(uri: string): void {
    this.#open.delete(uri);
  }
}

const COMPLETION_KINDS = {
  key: CompletionItemKind.Property,
  section: CompletionItemKind.Module,
  value: CompletionItemKind.EnumMember,
  file: CompletionItemKind.File,
  folder: CompletionItemKind.Folder,
} as const;

export function completions({ config, around }: OpenConfig, position: Position): CompletionItem[] {
  return configCompletions(config, position, around).map((one) => ({
    label: one.label,
    kind: COMPLETION_KINDS[one.kind],
    detail: one.detail,
    documentation: one.documentation ? { kind: MarkupKind.Markdown, value: one.documentation } : undefined,
    textEdit: { range: one.edit.range, newText: one.edit.newText },
    insertTextFormat: InsertTextFormat.PlainText,
    sortText: one.sort,
  }));
}

const SYMBOL_KINDS = { section: SymbolKind.Module, list: SymbolKind.Array, value: SymbolKind.Property } as const;

export function symbols({ config }: OpenConfig): DocumentSymbol[] {
  const convert = (symbol: ConfigSymbol): DocumentSymbol => ({
    name: symbol.name,
    detail: symbol.detail,
    kind: SYMBOL_KINDS[symbol.kind],
    range: symbol.range,
    selectionRange: symbol.selection,
    children: symbol.children.map(convert),
  });
  return configSymbols(config).map(convert);
}

export function folding({ config }: OpenConfig): FoldingRange[] {
  return configFolding(config).map(({ startLine, endLine, kind }) => ({
    startLine,
    endLine,
    ...(kind === 'comment' && { kind: FoldingRangeKind.Comment }),
  }));
}

/** Only to what exists. */
export function definition({ config, around }: OpenConfig, uri: string, position: Position): LocationLink[] {
  const found = configDefinition(config, position);
  if (!found) return [];
  if ('range' in found)
    return [
      {
        originSelectionRange: found.origin,
        targetUri: uri,
        targetRange: found.range,
        targetSelectionRange: found.range,
      },
    ];
  const folder = folderOf(uri);
  if (folder === undefined || around?.kind(found.path) !== 'file') return [];
  const start = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  return [
    {
      originSelectionRange: found.origin,
      targetUri: uriIn(folder, found.path),
      targetRange: start,
      targetSelectionRange: start,
    },
  ];
}
