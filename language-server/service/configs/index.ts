/** Services for training configs: text in; findings, completion, hovers, outline, links and arithmetic out. No I/O. */
export { CONFIG_FINDINGS } from './catalogue.ts';
export { configCompletions } from './completion.ts';
export { type ConfigText, openConfig } from './config-text.ts';
export { configDefinition } from './definition.ts';
export { type ConfigFinding, configFindings } from './findings.ts';
export { configHover } from './hover.ts';
export { configInlays } from './inlays.ts';
export { configFolding, configSymbols } from './outline.ts';
export type { Completion, ConfigSymbol, Definition, Folding } from './shapes.ts';
