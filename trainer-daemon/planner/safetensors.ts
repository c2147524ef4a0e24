/**
 * The safetensors format: 8 bytes little-endian header length, a JSON header
 * `{name: {dtype, shape, data_offsets: [begin, end]}}`, then the tensors' bytes. Everything read from a header is
 * checked before it is used: a file may come from anywhere.
 */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { CheckpointError } from './checkpoint-error.ts';

/** The bound the reference implementation sets; a real header is a few hundred bytes a tensor. */
const LONGEST_HEADER = 100_000_000;
/** Elements converted or written at a time. */
const CHUNK = 1 << 22;
const BYTES_BY_DTYPE: Record<string, number> = { F32: 4, F16: 2, BF16: 2 };

/** A tensor's place in a file, as its header says. */
export interface StoredTensor {
  name: string;
  dtype: string;
  shape: number[];
  /** Byte offsets from the start of the file. */
  begin: number;
  end: number;
}

/** A float32 tensor to be written. */
export interface NamedTensor {
  name: string;
  shape: number[];
  data: Float32Array;
}

/** An open safetensors file. Close it after use. */
export class SafetensorsFile {
  readonly file: string;
  readonly tensors: Map<string, StoredTensor>;
  /** The header's `__metadata__`. */
  readonly metadata: Record<string, string>;
  private readonly handle: FileHandle;

  private constructor(
    file: string,
    handle: FileHandle,
    tensors: Map<string, StoredTensor>,
    metadata: Record<string, string>,
  ) {
    this.file = file;
    this.handle = handle;
    this.tensors = tensors;
    this.metadata = metadata;
  }

  /** @throws CheckpointError when the file is absent, cut short, or its header is not a valid one. */
  static async open(file: string): Promise<SafetensorsFile> {
    let handle: FileHandle;
    try {
      // Opening a pipe would wait for a writer.
      if (!(await stat(file)).isFile())
        throw new CheckpointError(file, 'is no file; put the weights of the checkpoint there');
      handle = await open(file, 'r');
    } catch (error) {
      if (error instanceof CheckpointError) throw error;
      throw new CheckpointError(
        file,
        `cannot be opened (${(error as NodeJS.ErrnoException).code}); copy it here again`,
      );
    }
    try {
      const { tensors, metadata } = await readHeader(file, handle);
      return new SafetensorsFile(file, handle, tensors, metadata);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * A tensor's entry, without reading its numbers.
   * @throws CheckpointError when it is absent, has another shape, or a dtype other than F32, F16, BF16.
   */
  find(name: string, shape: number[]): StoredTensor {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw new CheckpointError(this.file, `the tensor ${name} is missing`);
    if (BYTES_BY_DTYPE[tensor.dtype] === undefined) {
      throw new CheckpointError(
        this.file,
        `${name} is stored as ${tensor.dtype}; only F32, F16 and BF16 are read: convert the checkpoint to one of them`,
      );
    }
    if (tensor.shape.length !== shape.length || tensor.shape.some((size, i) => size !== shape[i])) {
      throw new CheckpointError(
        this.file,
        `${name} has shape [${tensor.shape}], config.json says [${shape}]: the two files do not belong together`,
      );
    }
    return tensor;
  }

  /**
   * Converts a tensor to float32 into `target` (of exactly its size).
   * @throws CheckpointError as {@link find}, when a number is not finite, or when the file became shorter meanwhile.
   */
  async readInto(name: string, shape: number[], target: Float32Array): Promise<void> {
    const tensor = this.find(name, shape);
    const width = BYTES_BY_DTYPE[tensor.dtype];
    const buffer = new Uint8Array(Math.min(CHUNK, Math.max(target.length, 1)) * width);
    for (let start = 0; start < target.length; start += CHUNK) {
      const count = Math.min(CHUNK, target.length - start);
      await readExactly(this.file, this.handle, buffer.subarray(0, count * width), tensor.begin + start * width);
      const part = target.subarray(start, start + count);
      convert(tensor.dtype, buffer, part);
      if (!allFinite(part)) {
        throw new CheckpointError(
          this.file,
          `${name} holds numbers that are infinite or not a number (a training that diverged, a damaged copy?); choose another checkpoint`,
        );
      }
    }
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

async function readHeader(file: string, handle: FileHandle) {
  const cutShort = 'the file is cut short (an interrupted download or copy?); copy it again';
  const damaged = (what: string) => new CheckpointError(file, `not a valid safetensors file: ${what}`);
  const { size } = await handle.stat();
  if (size < 8) throw new CheckpointError(file, cutShort);
  const prefix = new Uint8Array(8);
  await readExactly(file, handle, prefix, 0);
  const length = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  if (length > LONGEST_HEADER) {
    throw damaged(`its header claims ${length} bytes, more than the format's limit of ${LONGEST_HEADER}`);
  }
  if (8 + length > size) throw new CheckpointError(file, cutShort);
  const bytes = new Uint8Array(length);
  await readExactly(file, handle, bytes, 8);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw damaged('its header is not JSON');
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) throw damaged('its header is no object');

  const tensors = new Map<string, StoredTensor>();
  const metadata: Record<string, string> = {};
  const start = 8 + length;
  for (const [name, value] of Object.entries(header as Record<string, unknown>)) {
    if (name === '__metadata__') {
      for (const [key, text] of Object.entries((value ?? {}) as Record<string, unknown>)) metadata[key] = String(text);
      continue;
    }
    const entry = (value ?? {}) as { dtype?: unknown; shape?: unknown; data_offsets?: unknown };
    const natural = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;
    if (typeof entry.dtype !== 'string' || !Array.isArray(entry.shape) || !entry.shape.every(natural)) {
      throw damaged(`the entry of ${name} has no valid dtype and shape`);
    }
    const offsets = entry.data_offsets;
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(natural) || offsets[1] < offsets[0]) {
      throw damaged(`the entry of ${name} has no valid data_offsets`);
    }
    const elements = entry.shape.reduce((a, b) => a * b, 1);
    const width = BYTES_BY_DTYPE[entry.dtype];
    if (width !== undefined && elements * width !== offsets[1] - offsets[0]) {
      throw damaged(`${name} has ${offsets[1] - offsets[0]} bytes, its shape needs ${elements * width}`);
    }
    if (start + offsets[1] > size) throw new CheckpointError(file, cutShort);
    tensors.set(name, {
      name,
      dtype: entry.dtype,
      shape: entry.shape,
      begin: start + offsets[0],
      end: start + offsets[1],
    });
  }
  return { tensors, metadata };
}

async function readExactly(file: string, handle: FileHandle, target: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < target.length) {
    const { bytesRead } = await handle.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new CheckpointError(file, 'the file is cut short; copy it again');
    done += bytesRead;
  }
}

function convert(dtype: string, bytes: Uint8Array, target: Float32Array): void {
  if (dtype === 'F32') {
    target.set(new Float32Array(bytes.buffer, 0, target.length));
    return;
  }
  const halves = new Uint16Array(bytes.buffer, 0, target.length);
  if (dtype === 'BF16') {
    // bfloat16 is the upper half of a float32.
    const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
    for (let i = 0; i < halves.length; i++) bits[i] = halves[i] << 16;
  } else {
    for (let i = 0; i < halves.length; i++) target[i] = halfToNumber(halves[i]);
  }
}

/** A plain loop: these are all the weights of a planner. */
function allFinite(values: Float32Array): boolean {
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i]) < Number.POSITIVE_INFINITY)) return false;
  return true;
}

/** IEEE 754 binary16 to a number. */
export function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * Writes float32 tensors as one safetensors file, through a temporary file that is synced and renamed: a reader sees
 * the old file or the whole new one.
 */
export async function writeSafetensors(
  file: string,
  tensors: NamedTensor[],
  metadata: Record<string, string> = { format: 'pt' },
): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  // The header is padded with spaces so that the tensors begin at a multiple of 8.
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  padded.set(text);
  const prefix = new Uint8Array(8);
  new DataView(prefix.buffer).setBigUint64(0, BigInt(padded.length), true);

  const temporary = `${file}.partial-${process.pid}`;
  const handle = await open(temporary, 'w');
  try {
    const write = async (bytes: Uint8Array) => {
      for (let done = 0; done < bytes.length; ) {
        done += (await handle.write(bytes, done, Math.min(bytes.length - done, CHUNK * 4))).bytesWritten;
      }
    };
    await write(prefix);
    await write(padded);
    for (const { data } of tensors) await write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}
