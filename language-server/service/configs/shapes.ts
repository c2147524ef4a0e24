/** What the config services give beside the shared findings, hovers and inlay hints. */
import type { Range, TextEdit } from '../contract.ts';

export interface Completion {
  label: string;
  kind: 'key' | 'section' | 'value' | 'file' | 'folder';
  /** Short, beside the label: the default. */
  detail?: string;
  /** Markdown. */
  documentation?: string;
  edit: TextEdit;
  /** Orders the list. */
  sort: string;
}

export interface ConfigSymbol {
  name: string;
  /** The value, where it is a single one. */
  detail: string;
  kind: 'section' | 'list' | 'value';
  range: Range;
  selection: Range;
  children: ConfigSymbol[];
}

export interface Folding {
  startLine: number;
  endLine: number;
  kind?: 'comment';
}

/** Where a name leads: a file beside the config (as written there), or a place in the same text. */
export type Definition = { origin: Range } & ({ path: string } | { range: Range });
