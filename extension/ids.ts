/**
 * Every name that the editor knows us by. package.json repeats them, as VS Code wants it; test/unit/extension/manifest
 * holds that both say the same.
 */

/** Ids of commands. Those of code lenses are the language server's words as well. */
export const COMMANDS = {
  showLogs: 'agenticRoboRL.showLogs',
  restartLanguageServer: 'agenticRoboRL.restartLanguageServer',
} as const;

/** Settings without the section's name. */
export const SETTINGS = {
  nodePath: 'node.path',
  traceServer: 'trace.server',
} as const;

/** Prefix of every setting. */
export const SECTION = 'agenticRoboRL';

/** Language of `*.training.yaml`. JSON configs stay JSON, adapters stay TypeScript or JavaScript. */
export const CONFIG_LANGUAGE = 'agentic-robo-rl-config';

/** Name of the client and of the output channel. */
export const DISPLAY_NAME = 'AgenticRoboRL';

/** Files that the language server looks at, as globs. */
export const CONFIG_FILES = '**/*.training.{yaml,yml,json}';
export const ADAPTER_FILES = '**/*.adapter.{ts,mts,cts,js,mjs,cjs}';
