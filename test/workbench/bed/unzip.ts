/** Reads zip archives as packagers write them: no encryption, no archives above 4 GB. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL_HEADER = 30;
const DEFLATED = 8;

/** @returns path in the archive -> bytes. Folders are left out. @throws Error when it is no zip archive. */
export function readZip(file: string): Map<string, Buffer> {
  const bytes = readFileSync(file);
  let end = bytes.length - 22;
  while (end >= 0 && bytes.readUInt32LE(end) !== END_OF_DIRECTORY) end--;
  if (end < 0) throw new Error(`${file} is no zip archive`);
  const files = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    if (bytes.readUInt32LE(at) !== ENTRY) throw new Error(`${file}: its directory is damaged at ${at}`);
    const [method, size] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const local = bytes.readUInt32LE(at + 42);
    const path = bytes.toString('utf8', at + 46, at + 46 + name);
    const start = local + LOCAL_HEADER + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + size);
    if (!path.endsWith('/')) files.set(path, method === DEFLATED ? inflateRawSync(content) : content);
    at += 46 + name + extra + comment;
  }
  return files;
}

/** Writes an archive's files under a folder. */
export function unpack(files: Map<string, Buffer>, folder: string): void {
  for (const [path, content] of files) {
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, content);
  }
}
