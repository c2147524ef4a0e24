/**
 * Replay in a window: the sessions, the debug adapter inside the editor, its launch configurations, and links. Nothing of
 * a recording is run: all of this also works in a workspace that is not trusted, save that the editor debugs nothing there.
 */
import {
  type CancellationToken,
  DebugAdapterInlineImplementation,
  type DebugConfiguration,
  type DebugConfigurationProvider,
  type DebugSession,
  Disposable,
  debug,
  type LogOutputChannel,
  l10n,
  Uri,
  type UriHandler,
  type WorkspaceFolder,
  window,
  workspace,
} from 'vscode';
import { openRecording } from '../../recordings/index.ts';
import { findEpisode, transcriptUri } from '../../recordings/replay/index.ts';
import { DEBUG_TYPE } from '../ids.ts';
import { plainLabel } from '../message-text.ts';
import { confirmed, tellProblem } from '../messages.ts';
import { chooseEpisode, workspaceFolders } from './choosing.ts';
import { ReplayDebugAdapter } from './debug/adapter.ts';
import { isRun, liesIn, readLink, runDirectory } from './places.ts';
import type { ReplaySession, ReplayTarget } from './session.ts';
import type { ReplaySessions } from './sessions.ts';
import { roomBesideStage } from './stage/room.ts';

export interface ReplayOptions {
  /** Where to begin. */
  turn?: number;
  /** With every attempt of the group. */
  group?: boolean;
}

export class Replay implements Disposable, DebugConfigurationProvider, UriHandler {
  private readonly sessions: ReplaySessions;
  private readonly log: LogOutputChannel;
  /** By the id of the editor's debug session. */
  private readonly debugged = new Map<string, ReplaySession>();
  /** Opened without a debug session. */
  private readonly held = new Set<ReplaySession>();
  private readonly subscriptions: Disposable;

  /** @param sessions those of the window, which others show, too. */
  constructor(sessions: ReplaySessions, log: LogOutputChannel) {
    this.log = log;
    this.sessions = sessions;
    this.subscriptions = Disposable.from(
      debug.registerDebugConfigurationProvider(DEBUG_TYPE, this),
      debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, {
        createDebugAdapterDescriptor: (session) => new DebugAdapterInlineImplementation(this.adapterOf(session)),
      }),
      debug.onDidChangeActiveDebugSession((session) => {
        const shown = session && this.debugged.get(session.id);
        if (shown) this.sessions.show(shown);
      }),
      window.registerUriHandler(this),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Opens an episode: as a debug session, or as its transcript alone where the editor debugs nothing. */
  async start({ directory, section, episode }: ReplayTarget, { turn, group }: ReplayOptions = {}): Promise<void> {
    if (!workspace.isTrusted) return this.startUntrusted({ directory, section, episode }, turn);
    const folder = workspace.getWorkspaceFolder(Uri.file(directory));
    const name = l10n.t('Replay {0}', plainLabel(episode));
    const started = await debug.startDebugging(folder, {
      ...{ type: DEBUG_TYPE, request: 'launch', name, run: directory, section, episode },
      ...(turn === undefined ? {} : { turn }),
      ...(group ? { group } : {}),
    });
    // What was wrong with it, the editor has said.
    if (!started) this.log.warn(`the replay of ${episode} in ${directory} was not started`);
  }

  /** Called by the editor for launch configurations, also for none. */
  async resolveDebugConfiguration(
    folder: WorkspaceFolder | undefined,
    config: DebugConfiguration,
    _token?: CancellationToken,
  ): Promise<DebugConfiguration | undefined> {
    const { run, episode } = config;
    const folders = [...(folder ? [folder.uri.fsPath] : []), ...workspaceFolders()];
    const directory = typeof run === 'string' && run !== '' ? runDirectory(run, folders) : undefined;
    if (directory !== undefined && typeof episode === 'string' && episode !== '') return { ...config, run: directory };
    try {
      const chosen = await chooseEpisode(directory === undefined ? {} : { directory });
      if (!chosen) return undefined;
      const { section, episode: id } = chosen;
      const named = { type: DEBUG_TYPE, request: 'launch', name: l10n.t('Replay {0}', plainLabel(id)) };
      return { ...named, ...config, ...(config.type ? {} : named), run: chosen.directory, section, episode: id };
    } catch (error) {
      void tellProblem(error);
      return undefined;
    }
  }

  /** Called by the editor for links; whoever wrote one decides what is in it. */
  async handleUri(uri: Uri): Promise<void> {
    try {
      const link = readLink(uri.path, uri.query);
      if ('problem' in link) throw new Error(link.problem);
      const directory = runDirectory(link.run, workspaceFolders());
      if (!isRun(directory)) throw new Error(l10n.t('{0} is no run: there is no run.json in it', directory));
      if (!liesIn(directory, workspaceFolders()) && !(await this.mayOpen(directory))) return;
      const section = link.section ?? (await sectionOf(directory, link.episode));
      await this.start({ directory, section, episode: link.episode }, link);
    } catch (error) {
      this.log.warn(`link ${uri.path}: ${(error as Error).message}`);
      void tellProblem(error);
    }
  }

  private async mayOpen(directory: string): Promise<boolean> {
    const open = l10n.t('Open');
    const detail = l10n.t('It is not in this workspace. Its records are read; nothing is run.');
    const asked = l10n.t('A link asks to open the run {0}.', directory);
    return confirmed(asked, open, detail);
  }

  private async startUntrusted(target: ReplayTarget, turn: number | undefined): Promise<void> {
    const session = await this.sessions.acquire(target);
    // It stays open, once, as long as the window does.
    if (this.held.has(session)) void this.sessions.release(session);
    this.held.add(session);
    this.sessions.show(session);
    const call = turn === undefined ? undefined : session.episodes[0].positionOf(turn);
    if (call !== undefined) await session.cursor.goto({ thread: 0, call, part: 'call' });
    await roomBesideStage();
    await window.showTextDocument(await workspace.openTextDocument(Uri.parse(transcriptUri(target))), {
      preview: false,
    });
  }

  private adapterOf(debugSession: DebugSession): ReplayDebugAdapter {
    return new ReplayDebugAdapter({
      open: async (target) => {
        const session = await this.sessions.acquire(target);
        this.debugged.set(debugSession.id, session);
        this.sessions.show(session);
        await roomBesideStage();
        return session;
      },
      release: (session) => {
        this.debugged.delete(debugSession.id);
        return this.sessions.release(session);
      },
      resolveRun: (run) => runDirectory(run, workspaceFolders()),
      folders: workspaceFolders,
      documents: true,
      language: l10n,
      log: (text) => this.log.warn(text),
    });
  }
}

/** Where an episode of a run lies. @throws RecordingError when it has no such episode. */
export async function sectionOf(directory: string, episode: string): Promise<string> {
  const recording = await openRecording(directory);
  try {
    return await findEpisode(recording, episode);
  } finally {
    await recording.close();
  }
}
