/**
 * Message bodies, tool lists and images, each stored once under the hash of its content: small bodies as lines of
 * messages.jsonl, large ones and images as files of blobs/.
 */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Message, messageSchema, type Tool, toolSchema } from '../../protocol/chat.ts';
import { sha256 } from '../../protocol/random.ts';
import { headFields, scanLines } from '../../recordings/lines.ts';
import { StoreError } from './contract.ts';
import { errorCode, storeError } from './disk-trouble.ts';
import { type FileLayer, makeDirectory, nodeFiles, READ_WRITE, replaceFile } from './files.ts';
import { KnownImages, type TakenImage, takeImages } from './images.ts';
import type { RecordFile } from './record-file.ts';

/** Bodies of more bytes than this get a file of their own. */
export const LARGEST_INLINE_BODY = 64 * 1024;

/** A body ready to be stored. */
export interface PreparedBody {
  sha256: string;
  /** JSON text with the keys in the order received: chat templates render tools in that order. */
  text: string;
  images: TakenImage[];
}

const toolsSchema = z.array(toolSchema);
const shaOfLine = headFields('sha256');

export class BodyStore {
  private readonly directory: string;
  private readonly lines: RecordFile;
  private readonly files: FileLayer;
  /** Hashes (with extension, for files) of what is on disk. */
  private readonly stored: Set<string>;
  private readonly known = new KnownImages();
  /** What is being written now. */
  private readonly pending = new Map<string, Promise<void>>();

  private constructor(directory: string, lines: RecordFile, files: FileLayer, stored: Set<string>) {
    this.directory = directory;
    this.lines = lines;
    this.files = files;
    this.stored = stored;
  }

  /** Reads which bodies `lines` (messages.jsonl, already repaired) holds. */
  static async open(directory: string, lines: RecordFile, files: FileLayer): Promise<BodyStore> {
    const stored = new Set<string>();
    try {
      const file = await nodeFiles.open(lines.path, READ_WRITE);
      try {
        await scanLines(file, 0, ({ head }) => {
          const found = shaOfLine(head);
          if (found) stored.add(found[0]);
        });
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw storeError(lines.path, 'read the stored message bodies', error);
    }
    return new BodyStore(directory, lines, files, stored);
  }

  /** @throws StoreError when it is no message, or no JSON (a cycle, a BigInt). */
  prepareMessage(message: Message): PreparedBody {
    check('message', messageSchema, message);
    const taken = takeImages(message, this.known);
    return { ...toText(taken.message), images: taken.images };
  }

  /** @throws StoreError when they are no tools, or no JSON. */
  prepareTools(tools: Tool[]): PreparedBody {
    check('list of tools', toolsSchema, tools);
    return { ...toText(tools), images: [] };
  }

  /**
   * Resolves when all bodies and their images are on disk.
   * @throws StoreError; bodies stored before the failure stay, which does no harm.
   */
  async keep(bodies: PreparedBody[]): Promise<void> {
    const writes: Promise<void>[] = [];
    for (const { sha256: hash, text, images } of bodies) {
      for (const image of images) {
        writes.push(
          this.once(hashAndExtension(image), () => this.writeBlob(image.sha256, image.extension, image.decode())),
        );
      }
      const bytes = Buffer.byteLength(text);
      if (bytes <= LARGEST_INLINE_BODY) {
        writes.push(this.once(hash, () => this.lines.append(`{"sha256":"${hash}","body":${text}}\n`)));
      } else {
        writes.push(this.once(`${hash}.json`, () => this.writeBlob(hash, '.json', Buffer.from(text))));
      }
    }
    // Wait for all before failing: a write still under way must not outlive the call that asked for it.
    const results = await Promise.allSettled(writes);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  private async once(key: string, write: () => Promise<void>): Promise<void> {
    if (this.stored.has(key)) return;
    let writing = this.pending.get(key);
    if (!writing) {
      writing = write()
        .then(() => void this.stored.add(key))
        .finally(() => this.pending.delete(key));
      this.pending.set(key, writing);
    }
    await writing;
  }

  private async writeBlob(hash: string, extension: string, bytes: Buffer): Promise<void> {
    const path = join(this.directory, 'blobs', hash.slice(0, 2), hash + extension);
    try {
      // Blobs appear by rename, so one that is there is whole.
      if ((await stat(path).catch(() => undefined))?.size === bytes.length) return;
      await makeDirectory(dirname(path));
    } catch (error) {
      throw storeError(path, 'write the file', error);
    }
    await replaceFile(path, [bytes], this.files);
  }
}

function check(what: string, schema: z.ZodType, value: unknown): void {
  const checked = schema.safeParse(value);
  if (checked.success) return;
  const { path, message } = checked.error.issues[0];
  throw new StoreError(`a ${what} is not stored, it breaks its schema at ${path.join('.') || 'its top'}: ${message}`);
}

function hashAndExtension(image: TakenImage): string {
  return image.sha256 + image.extension;
}

function toText(body: unknown): { sha256: string; text: string } {
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (error) {
    throw new StoreError(`a message cannot be stored: it is no JSON (${(error as Error).message})`, { cause: error });
  }
  if (text === undefined) throw new StoreError('a message cannot be stored: it is no JSON value');
  return { sha256: sha256(text), text };
}
