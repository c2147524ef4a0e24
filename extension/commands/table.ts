/** The commands, each with what it does. */
import { commands, Disposable, type ExtensionContext, type LogOutputChannel, l10n, window } from 'vscode';
import { COMMANDS } from '../ids.ts';
import type { LanguageServer } from '../language/language-server.ts';

/** What commands work with. */
export interface Surroundings {
  context: ExtensionContext;
  log: LogOutputChannel;
  language: LanguageServer;
}

type Handler = (surroundings: Surroundings, ...args: unknown[]) => unknown;

const table: Record<keyof typeof COMMANDS, Handler> = {
  showLogs: ({ log }) => log.show(),
  restartLanguageServer: ({ language }) => language.restart(),
};

/** Registers them all. What one throws is logged and shown. */
export function registerCommands(surroundings: Surroundings): Disposable {
  const registered = Object.entries(table).map(([name, handler]) =>
    commands.registerCommand(COMMANDS[name as keyof typeof COMMANDS], async (...args: unknown[]) => {
      try {
        await handler(surroundings, ...args);
      } catch (error) {
        surroundings.log.error(`${name}: ${(error as Error).stack}`);
        void window.showErrorMessage(l10n.t('AgenticRoboRL: {0}', (error as Error).message));
      }
    }),
  );
  return Disposable.from(...registered);
}
