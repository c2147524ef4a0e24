/** `Check on recorded outputs | Run one episode | Train`, above an adapter. */
import type { AdapterOptions, CodeLens } from '../contract.ts';
import { fieldsOf } from './fields-at.ts';

/** Ids of the extension's commands; each gets the document's URI. */
export const LENS_COMMANDS = {
  check: 'agenticRoboRL.checkAdapter',
  run: 'agenticRoboRL.runEpisode',
  train: 'agenticRoboRL.train',
} as const;

export function adapterLenses(text: string, options: AdapterOptions = {}): CodeLens[] {
  const found = fieldsOf(text, options);
  const at = found?.analysis.adapter?.node;
  if (!found || !at) return [];
  const start = found.syntax.range(at).start;
  const range = { start, end: start };
  return [
    { range, title: 'Check on recorded outputs', command: LENS_COMMANDS.check, arguments: [] },
    { range, title: 'Run one episode', command: LENS_COMMANDS.run, arguments: [] },
    { range, title: 'Train', command: LENS_COMMANDS.train, arguments: [] },
  ];
}
