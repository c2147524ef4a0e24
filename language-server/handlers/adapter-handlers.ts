/** Services for adapters, loaded at the first adapter: the TypeScript parser they bring along takes a moment. */
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { AdapterOptions, AdapterService, Finding } from '../service/contract.ts';
import type { CheckResults } from './check-results.ts';
import { fileOf } from './workspace-files.ts';

let loading: Promise<AdapterService> | undefined;

/** The services; loaded once. */
export function adapterService(): Promise<AdapterService> {
  loading ??= import('../service/adapters/index.ts');
  return loading;
}

/** What an adapter imports counts as unknown: nothing but the open text is looked at. */
export function optionsFor(uri: string): AdapterOptions {
  const file = fileOf(uri);
  return {
    fileName: file ?? uri.slice(uri.lastIndexOf('/') + 1),
    syntaxErrors: false,
  };
}

/** Findings of the text, and of recorded outputs as long as the text is the one that was checked. */
export function adapterFindingsOf(service: AdapterService, document: TextDocument, results: CheckResults): Finding[] {
  const text = document.getText();
  const options = optionsFor(document.uri);
  const check = results.of(document.uri);
  const found = service.adapterFindings(text, options);
  return check ? [...found, ...service.adapterCheckFindings(text, check, options)] : found;
}
