/** Files that are read from recordings: there are no folders of them, and nothing of them can be changed. */
import {
  Disposable,
  type Event,
  EventEmitter,
  type FileChangeEvent,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  type FileType,
  type Uri,
} from 'vscode';

export abstract class RecordedFiles implements FileSystemProvider {
  protected readonly changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile: Event<FileChangeEvent[]> = this.changed.event;

  abstract stat(uri: Uri): FileStat | Promise<FileStat>;
  abstract readFile(uri: Uri): Promise<Uint8Array>;

  /** Whoever has one open is told of changes anyway. */
  watch(): Disposable {
    return new Disposable(() => {});
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
