/**
 * The texts of replay as files that cannot be changed: the editor opens files again after a reload of the window, which it
 * does not do with texts of other kinds. Any of them is made from its address alone.
 */
import {
  Disposable,
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  l10n,
  MarkdownString,
  type Uri,
  workspace,
} from 'vscode';
import { TRANSCRIPT_SCHEME } from '../../../recordings/replay/index.ts';
import type { TranscriptDocuments } from './documents.ts';

/** So that it is read as what it is, whatever encoding a person has set for files; no part of the text. */
const BYTE_ORDER_MARK = '\ufeff';

export class TranscriptFiles implements FileSystemProvider, Disposable {
  private readonly documents: TranscriptDocuments;
  private readonly changed = new EventEmitter<FileChangeEvent[]>();
  /** By address: counts how often its text was made anew. */
  private readonly versions = new Map<string, number>();
  private readonly subscriptions: Disposable;
  readonly onDidChangeFile = this.changed.event;

  constructor(documents: TranscriptDocuments) {
    this.documents = documents;
    this.subscriptions = Disposable.from(
      this.changed,
      documents.onDidChange((uri) => {
        const key = uri.toString();
        this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
        this.changed.fire([{ type: FileChangeType.Changed, uri }]);
      }),
      workspace.registerFileSystemProvider(TRANSCRIPT_SCHEME, this, {
        isReadonly: new MarkdownString(l10n.t('What was recorded cannot be changed.')),
        isCaseSensitive: true,
      }),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  watch(): Disposable {
    return { dispose: () => {} }; // Whoever has a text open is told of its changes anyway.
  }

  /** The size is not known before the text was made; the editor tells texts apart by the time. */
  stat(uri: Uri): FileStat {
    return { type: FileType.File, ctime: 0, mtime: 1 + (this.versions.get(uri.toString()) ?? 0), size: 0 };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(BYTE_ORDER_MARK + (await this.documents.textOf(uri)));
  }

  readDirectory(uri: Uri): [string, FileType][] {
    throw FileSystemError.FileNotFound(uri);
  }
  createDirectory(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }
  writeFile(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }
  delete(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }
  rename(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }
}
