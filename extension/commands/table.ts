/** The commands, each with what it does. */
import {
  commands,
  Disposable,
  type ExtensionContext,
  type LogOutputChannel,
  l10n,
  TaskScope,
  type TreeView,
  tasks,
  window,
} from 'vscode';
import type { AdapterChecks } from '../adapters/adapter-check.ts';
import type { AdapterNode } from '../adapters/tree.ts';
import { newAdapter } from '../creating/new-adapter.ts';
import { newConfig } from '../creating/new-config.ts';
import type { Folders } from '../folders.ts';
import { COMMANDS } from '../ids.ts';
import { isAdapterName } from '../language/documents.ts';
import type { LanguageServer } from '../language/language-server.ts';
import { tellProblem } from '../messages.ts';
import type { Replay } from '../replay/replay.ts';
import type { ReplaySessions } from '../replay/sessions.ts';
import type { StagePanels } from '../replay/stage/stage-panels.ts';
import * as transcript from '../replay/transcript/commands.ts';
import type { TranscriptDocuments } from '../replay/transcript/documents.ts';
import type { RunPages } from '../run-page/run-pages.ts';
import type { FollowNewest } from '../runs/follow.ts';
import type { Node } from '../runs/items.ts';
import type { RunsTree } from '../runs/tree.ts';
import { commandLineTask } from '../tasks/provider.ts';
import { mayExecute } from '../trust.ts';
import { fileOf } from './choosing.ts';
import { restartDaemon, showDaemonLog, stopDaemon } from './daemon.ts';
import { runEpisode } from './episode.ts';
import { compareRuns, evaluateCheckpoint } from './evaluating.ts';
import { clearRunsFilter, filterRuns } from './filtering.ts';
import { Missing, tellMissing, ways } from './missing.ts';
import { openSampleRun, replayEpisode } from './replaying.ts';
import { openRunPage } from './run-page.ts';
import { activatePolicy, serveCheckpoint, showAddress, stopServing } from './serving.ts';
import { openStage } from './stage.ts';
import { resumeTraining, startTraining, stopTraining } from './training.ts';

/** What commands work with. */
export interface Surroundings {
  context: ExtensionContext;
  log: LogOutputChannel;
  language: LanguageServer;
  folders: Folders;
  checks: AdapterChecks;
  tree: RunsTree;
  runsView: TreeView<Node>;
  follower: FollowNewest;
  pages: RunPages;
  sessions: ReplaySessions;
  stages: StagePanels;
  replay: Replay;
  transcripts: TranscriptDocuments;
}

type Handler = (surroundings: Surroundings, argument?: unknown) => unknown;

const table: Record<keyof typeof COMMANDS, Handler> = {
  train: startTraining,
  stopTraining,
  resumeTraining,
  runEpisode,
  replayEpisode,
  openSampleRun,
  evaluateCheckpoint,
  compareRuns,
  serveCheckpoint,
  stopServing,
  showAddress,
  activatePolicy,
  checkAdapter: ({ checks }, argument) => {
    const adapter = fileOf(argument) ?? adapterOf(argument) ?? window.activeTextEditor?.document.uri;
    if (!adapter || !isAdapterName(adapter.path))
      throw new Missing(l10n.t('open an adapter (*.adapter.ts) first'), [ways.newAdapter()]);
    return checks.checkNow(adapter);
  },
  openRunPage,
  openStage,
  newAdapter: ({ context }) => newAdapter(context.extensionUri),
  newConfig: ({ context }) => newConfig(context.extensionUri),
  doctor: async ({ context, folders }) => {
    if (!mayExecute()) return;
    const scope = folders.active?.place ?? TaskScope.Global;
    await tasks.executeTask(commandLineTask(context.extensionUri, { command: 'doctor' }, scope));
  },
  showLogs: ({ log }) => log.show(),
  showDaemonLog,
  restartDaemon,
  stopDaemon,
  restartLanguageServer: ({ language }) => language.restart(),
  refreshRuns: async ({ folders, tree }) => {
    await Promise.all(folders.all.map(({ runs, client }) => client.status.state === 'ready' && runs.reload()));
    tree.refresh();
  },
  showMore: ({ tree }, node) => tree.showMore(node as Node),
  openSelected: (surroundings) => {
    const [node] = surroundings.runsView.selection;
    return node?.kind === 'run'
      ? openRunPage(surroundings, node)
      : node && transcript.openTranscript(surroundings, node);
  },
  filterRuns,
  clearRunsFilter,
  followNewest: ({ follower }) => follower.follow(true),
  stopFollowing: ({ follower }) => follower.follow(false),
  openTranscript: transcript.openTranscript,
  goToCall: transcript.goToCall,
  // The editor has buttons for these two and nothing for the keyboard.
  stepBack: () => commands.executeCommand('workbench.action.debug.stepBack'),
  reverse: () => commands.executeCommand('workbench.action.debug.reverseContinue'),
  nextCall: transcript.nextCall,
  previousCall: transcript.previousCall,
  toggleContext: transcript.toggleContext,
  showFullTranscript: transcript.showFullTranscript,
  showSampled: transcript.showSampled,
  chooseTokenHeat: transcript.chooseTokenHeat,
  compareAttempts: transcript.compareAttempts,
  comparePrompts: transcript.comparePrompts,
};

/** The adapter of a tree item. */
function adapterOf(argument: unknown) {
  const node = argument as AdapterNode | undefined;
  return node?.kind === 'adapter' ? node.uri : undefined;
}

/** Registers them all. What one throws is logged and shown. */
export function registerCommands(surroundings: Surroundings): Disposable {
  const registered = Object.entries(table).map(([name, handler]) =>
    commands.registerCommand(COMMANDS[name as keyof typeof COMMANDS], async (argument: unknown) => {
      try {
        await handler(surroundings, argument);
      } catch (error) {
        if (error instanceof Missing) return tellMissing(error, surroundings.log);
        surroundings.log.error(`${name}: ${(error as Error).stack}`);
        const logs = l10n.t('Show Logs');
        const chosen = await tellProblem(error, logs);
        if (chosen === logs) surroundings.log.show();
      }
    }),
  );
  return Disposable.from(...registered);
}
