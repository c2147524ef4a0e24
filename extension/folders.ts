/** What belongs to each workspace folder: its daemon's client and its runs. */
import {
  Disposable,
  EventEmitter,
  type LogOutputChannel,
  type Uri,
  type WorkspaceFolder,
  window,
  workspace,
} from 'vscode';
import { DaemonClient } from './daemon/client.ts';
import { ServedList } from './policies/served-list.ts';
import { programPath, runtime } from './programs.ts';
import { RunList, type RunListNews } from './runs/run-list.ts';

export interface Folder {
  readonly place: WorkspaceFolder;
  readonly client: DaemonClient;
  readonly runs: RunList;
  readonly served: ServedList;
}

export interface FolderNews {
  folder: Folder;
  /** `status`: of its daemon. `served`: the planners that it serves. */
  news: RunListNews | { kind: 'status' } | { kind: 'served' };
}

export class Folders implements Disposable {
  private readonly extension: Uri;
  private readonly version: string;
  private readonly log: LogOutputChannel;
  private readonly known = new Map<string, Folder>();
  private readonly emitter = new EventEmitter<FolderNews>();
  private readonly subscriptions: Disposable;
  readonly onNews = this.emitter.event;

  constructor(extension: Uri, version: string, log: LogOutputChannel) {
    this.extension = extension;
    this.version = version;
    this.log = log;
    this.subscriptions = Disposable.from(
      this.emitter,
      workspace.onDidChangeWorkspaceFolders(({ removed }) => {
        for (const place of removed) this.forget(place.uri.toString());
        void this.attach();
      }),
      workspace.onDidGrantWorkspaceTrust(() => void this.attach()),
    );
  }

  /** In the order of the workspace; only those with files on this machine. */
  get all(): Folder[] {
    return (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map((one) => this.of(one));
  }

  /** That of the active editor, else the one where something is at work, else the first. */
  get active(): Folder | undefined {
    const { all } = this;
    const document = window.activeTextEditor?.document.uri;
    const place = document && workspace.getWorkspaceFolder(document);
    return (
      all.find((folder) => folder.place.uri.toString() === place?.uri.toString()) ??
      all.find((folder) => folder.runs.active) ??
      all[0]
    );
  }

  containing(file: Uri): Folder | undefined {
    const place = workspace.getWorkspaceFolder(file);
    return place && this.all.find((folder) => folder.place.uri.toString() === place.uri.toString());
  }

  /** Attaches to daemons that run already, and starts none. Not in a workspace that is not trusted. */
  async attach(): Promise<void> {
    if (!workspace.isTrusted) return;
    await Promise.all(
      this.all.map(({ client, place }) =>
        client.attach().catch((error: Error) => this.log.warn(`${place.name}: ${error.message}`)),
      ),
    );
  }

  /** Lets go of all daemons; runs go on. */
  dispose(): void {
    for (const key of [...this.known.keys()]) this.forget(key);
    this.subscriptions.dispose();
  }

  private of(place: WorkspaceFolder): Folder {
    const key = place.uri.toString();
    const known = this.known.get(key);
    if (known) return known;
    const log = (text: string) => this.log.info(`${place.name}: ${text}`);
    const script = programPath(this.extension, 'daemon');
    const client = new DaemonClient({
      workspace: place.uri.fsPath,
      program: {
        script,
        // The setting may change before the next start.
        get command() {
          return runtime();
        },
      },
      version: this.version,
      log,
    });
    const folder: Folder = { place, client, runs: new RunList(client, log), served: new ServedList(client, log) };
    client.onStatus(({ state, message }) => {
      log(`daemon: ${state}${message === undefined ? '' : ` (${message})`}`);
      this.emitter.fire({ folder, news: { kind: 'status' } });
    });
    folder.runs.onNews((news) => this.emitter.fire({ folder, news }));
    folder.served.onChange(() => this.emitter.fire({ folder, news: { kind: 'served' } }));
    this.known.set(key, folder);
    return folder;
  }

  private forget(key: string): void {
    const folder = this.known.get(key);
    this.known.delete(key);
    folder?.runs.dispose();
    folder?.served.dispose();
    folder?.client.dispose();
  }
}
