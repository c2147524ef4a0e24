/** Images of recordings as files that the editor opens: read-only, and nothing but a run's images can be read by it. */
import { type Disposable, type FileStat, FileSystemError, FileType, Uri, workspace } from 'vscode';
import { isDamaged, openRecording } from '../../../recordings/index.ts';
import { IMAGE_SCHEME } from '../../ids.ts';
import { RecordedFiles } from './recorded-files.ts';

const EXTENSIONS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};
/** Larger ones are not opened: a view of that size does an editor no good. */
const LARGEST = 32 * 1024 * 1024;
const PATH = /^(.+)\/blobs\/[0-9a-f]{2}\/([0-9a-f]{64})\.(?:png|jpg|webp|gif)$/;

/** The address of an image of a run; undefined for one that an editor cannot show. */
export function imageUri(directory: string, sha256: string, mediaType: string): Uri | undefined {
  const extension = EXTENSIONS[mediaType];
  if (!extension || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  const file = Uri.joinPath(Uri.file(directory), 'blobs', sha256.slice(0, 2), `${sha256}.${extension}`);
  return file.with({ scheme: IMAGE_SCHEME });
}

/** Registers the images' file system. */
export function provideImages(): Disposable {
  return workspace.registerFileSystemProvider(IMAGE_SCHEME, new RecordedImages(), {
    isReadonly: true,
    isCaseSensitive: true,
  });
}

/** An image is named by its content, so none ever changes. */
class RecordedImages extends RecordedFiles {
  async stat(uri: Uri): Promise<FileStat> {
    const { length } = await this.readFile(uri);
    return { type: FileType.File, ctime: 0, mtime: 0, size: length };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    const [, folder, sha256] = PATH.exec(uri.path) ?? [];
    if (folder === undefined) throw FileSystemError.FileNotFound(uri);
    const recording = await openRecording(Uri.file(folder).fsPath).catch(() => undefined);
    if (!recording) throw FileSystemError.FileNotFound(uri);
    try {
      const blob = await recording.blob(sha256);
      if (blob === undefined) throw FileSystemError.FileNotFound(uri);
      if (isDamaged(blob)) throw FileSystemError.Unavailable(blob.damaged);
      if (blob.bytes.length > LARGEST)
        throw FileSystemError.Unavailable(`${blob.path} has ${blob.bytes.length} bytes; open it outside of the editor`);
      return blob.bytes;
    } finally {
      await recording.close();
    }
  }
}
