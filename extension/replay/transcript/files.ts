/**
 * The texts of replay as files that cannot be changed: the editor opens files again after a reload of the window, which it
 * does not do with texts of other kinds. Any of them is made from its address alone.
 */
import { Disposable, FileChangeType, type FileStat, FileType, l10n, MarkdownString, type Uri, workspace } from 'vscode';
import { TRANSCRIPT_SCHEME } from '../../../recordings/replay/index.ts';
import type { TranscriptDocuments } from './documents.ts';
import { RecordedFiles } from './recorded-files.ts';

/** So that it is read as what it is, whatever encoding a person has set for files; no part of the text. */
const BYTE_ORDER_MARK = '\ufeff';

export class TranscriptFiles extends RecordedFiles implements Disposable {
  private readonly documents: TranscriptDocuments;
  /** By address: counts how often its text was made anew. */
  private readonly versions = new Map<string, number>();
  private readonly subscriptions: Disposable;

  constructor(documents: TranscriptDocuments) {
    super();
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

  /** The size is not known before the text was made; the editor tells texts apart by the time. */
  stat(uri: Uri): FileStat {
    return { type: FileType.File, ctime: 0, mtime: 1 + (this.versions.get(uri.toString()) ?? 0), size: 0 };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(BYTE_ORDER_MARK + (await this.documents.textOf(uri)));
  }
}
