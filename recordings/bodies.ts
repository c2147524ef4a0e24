/** Message bodies and images of a run, found by the hash of their content. */
import { join } from 'node:path';
import { sha256 } from '../protocol/random.ts';
import { bodySchema } from '../protocol/records.ts';
import { type Damaged, isDamaged, parseJson } from './documents.ts';
import { readPlainFile } from './plain-file.ts';
import { RecordIndex } from './record-index.ts';

/** A file of blobs/. */
export interface Blob {
  bytes: Buffer;
  mediaType: string;
  /** Absolute path. */
  path: string;
}

const MEDIA_TYPES: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.bin': 'application/octet-stream',
  '.json': 'application/json',
};
const SHA = /^[0-9a-f]{64}$/;
/** Bytes of JSON text whose parsed bodies are kept: an episode's calls repeat each other's messages. */
const CACHE_BYTES = 32 * 1024 * 1024;

export class BodyReader {
  private readonly root: string;
  private lines: Promise<RecordIndex<{ sha256: string; body?: unknown }>> | undefined;
  private readonly cache = new Map<string, { body: unknown; bytes: number }>();
  private cachedBytes = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** A body, shared between those who ask for it: it must not be changed. */
  async body(hash: string): Promise<{ body: unknown } | Damaged> {
    const cached = this.cache.get(hash);
    if (cached) {
      this.cache.delete(hash);
      this.cache.set(hash, cached);
      return cached;
    }
    if (!SHA.test(hash)) return { damaged: `${JSON.stringify(hash.slice(0, 80))} is no SHA-256`, line: 0 };
    const found = (await this.fromLines(hash)) ?? (await this.fromBlob(hash));
    if (isDamaged(found)) return found;
    const text = JSON.stringify(found.body) ?? '';
    if (sha256(text) !== hash) return { damaged: `the stored body ${hash} was changed: it has another hash`, line: 0 };
    this.remember(hash, found.body, text.length);
    return found;
  }

  /** An image or large body; undefined when there is none of that hash. */
  async blob(hash: string): Promise<Blob | Damaged | undefined> {
    if (!SHA.test(hash)) return { damaged: `${JSON.stringify(hash.slice(0, 80))} is no SHA-256`, line: 0 };
    for (const [extension, mediaType] of Object.entries(MEDIA_TYPES)) {
      const path = join(this.root, 'blobs', hash.slice(0, 2), hash + extension);
      const bytes = await readPlainFile(this.root, path);
      if (bytes === undefined) continue;
      if (!Buffer.isBuffer(bytes)) return { damaged: `${path}: ${bytes.unreadable}`, line: 0 };
      if (sha256(bytes) !== hash) return { damaged: `${path}: the file was changed, it has another hash`, line: 0 };
      return { bytes, mediaType, path };
    }
    return undefined;
  }

  async close(): Promise<void> {
    await (await this.lines)?.close();
  }

  private async fromLines(hash: string): Promise<{ body: unknown } | Damaged | undefined> {
    this.lines ??= RecordIndex.open(this.root, join(this.root, 'messages.jsonl'), { schema: bodySchema, id: 'sha256' });
    const lines = await this.lines;
    let line = await lines.byId(hash);
    // The run may have been written on since.
    if (line === undefined && (await lines.refresh())) line = await lines.byId(hash);
    if (line === undefined) return undefined;
    if (isDamaged(line)) return { damaged: `messages.jsonl, line ${line.line}: ${line.damaged}`, line: 0 };
    return { body: line.body };
  }

  private async fromBlob(hash: string): Promise<{ body: unknown } | Damaged> {
    const path = join(this.root, 'blobs', hash.slice(0, 2), `${hash}.json`);
    const bytes = await readPlainFile(this.root, path);
    if (bytes === undefined)
      return { damaged: `the body ${hash} is missing: it is neither in messages.jsonl nor in blobs/`, line: 0 };
    if (!Buffer.isBuffer(bytes)) return { damaged: `${path}: ${bytes.unreadable}`, line: 0 };
    const parsed = parseJson(bytes, 0);
    return 'damaged' in parsed ? { damaged: `${path}: ${parsed.damaged}`, line: 0 } : { body: parsed.value };
  }

  private remember(hash: string, body: unknown, bytes: number): void {
    this.cache.set(hash, { body, bytes });
    this.cachedBytes += bytes;
    for (const [oldest, entry] of this.cache) {
      if (this.cachedBytes <= CACHE_BYTES) break;
      this.cache.delete(oldest);
      this.cachedBytes -= entry.bytes;
    }
  }
}
