/** What the language server and `validate` say about an adapter's text. Pure: no files, no clock but the time limit. */
import type { AdapterOptions, Finding } from '../contract.ts';
import type { Rule } from './analysis.ts';
import { analyse } from './analysis.ts';
import { RULES } from './rules/index.ts';
import { isSilenced } from './silence.ts';

export { adapterCheckFindings, adapterInlays } from './check-results.ts';
export { ADAPTER_CODES, type AdapterCode } from './codes.ts';
export { adapterHover } from './hover.ts';
export { adapterLenses } from './lenses.ts';

const MOST_FINDINGS = 100;

/** Findings of an adapter's text, in its order. Never throws, whatever the text is. */
export function adapterFindings(text: string, options: AdapterOptions = {}): Finding[] {
  return analyse(text, options, options.syntaxErrors ? [syntaxErrors, ...RULES] : RULES)
    .filter((finding) => !isSilenced(text, finding))
    .sort(
      (a, b) =>
        a.range.start.line - b.range.start.line ||
        a.range.start.character - b.range.start.character ||
        (a.code < b.code ? -1 : 1),
    )
    .slice(0, MOST_FINDINGS);
}

const syntaxErrors: Rule = ({ syntax, report }) => {
  for (const { start, end, message } of syntax.errors) report('adapter-syntax', syntax.rangeOf(start, end), message);
};
