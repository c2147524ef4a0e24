/** Images inside messages: `data:` URLs become references to files, everything else stays as it is. */
import type { Message } from '../../protocol/chat.ts';
import { sha256 } from '../../protocol/random.ts';
import type { ImageRef } from '../../protocol/records.ts';

export interface TakenImage {
  /** Hash of the image's bytes. */
  sha256: string;
  /** Number of its bytes. */
  size: number;
  /** File name extension with the dot. */
  extension: string;
  /** The image's bytes. */
  decode(): Buffer;
}

interface KnownImage {
  url: string;
  /** Undefined when the text is no base64 from which it could be had back. */
  image: { sha256: string; size: number } | undefined;
}

/** Characters of base64 text that are kept to know it again. */
const MOST_KEPT = 64 * 1024 * 1024;

/**
 * Images seen lately. Each request repeats the images before it; comparing texts is many times faster than decoding and
 * hashing them again.
 */
export class KnownImages {
  private readonly known = new Map<string, KnownImage>();
  private kept = 0;

  /**
   * Hash and size of the image of a data URL; undefined when it is no base64 from which the text could be had back.
   * @param start where the base64 text begins.
   */
  look(url: string, start: number): KnownImage['image'] {
    const middle = url.length >> 1;
    const key = `${url.length} ${url.slice(-48)} ${url.slice(middle, middle + 48)}`;
    const before = this.known.get(key);
    // The proxy mostly hands over the very same string, which costs nothing to compare; a part of it would be read.
    if (before?.url === url) return before.image;
    const text = url.slice(start);
    const bytes = Buffer.from(text, 'base64');
    // Decoding skips what is no base64. Only what encodes back to the same text is taken out of the message.
    const sound = bytes.length > 0 && bytes.toString('base64') === text;
    const image = sound ? { sha256: sha256(bytes), size: bytes.length } : undefined;
    this.remember(key, { url, image });
    return image;
  }

  private remember(key: string, image: KnownImage): void {
    this.forget(key);
    this.known.set(key, image);
    this.kept += image.url.length;
    for (const oldest of this.known.keys()) {
      if (this.kept <= MOST_KEPT) break;
      this.forget(oldest);
    }
  }

  private forget(key: string): void {
    this.kept -= this.known.get(key)?.url.length ?? 0;
    this.known.delete(key);
  }
}

const EXTENSIONS: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
  'image/gif': '.gif',
};
const HEADER = /^data:([A-Za-z]+\/[A-Za-z0-9.+-]+);base64,/;

/** A message whose `data:` images are image_ref parts, and the images. The message given is not changed. */
export function takeImages(message: Message, known: KnownImages): { message: Message; images: TakenImage[] } {
  if (!Array.isArray(message.content)) return { message, images: [] };
  const images: TakenImage[] = [];
  const content = message.content.map((part) => {
    const image = imageOf(part, known);
    if (!image) return part;
    images.push(image);
    return referenceTo(part, image);
  });
  return images.length > 0 ? { message: { ...message, content }, images } : { message, images };
}

interface PartImage extends TakenImage {
  mediaType: string;
}

function imageOf(part: Record<string, unknown>, known: KnownImages): PartImage | undefined {
  const holder = part.image_url;
  if (part.type !== 'image_url' || typeof holder !== 'object' || holder === null) return undefined;
  const { url } = holder as { url?: unknown };
  if (typeof url !== 'string') return undefined;
  const header = HEADER.exec(url.slice(0, 200));
  if (!header) return undefined;
  const start = header[0].length;
  const found = known.look(url, start);
  if (!found) return undefined;
  const extension = EXTENSIONS[header[1].toLowerCase()] ?? '.bin';
  return { ...found, extension, mediaType: header[1], decode: () => Buffer.from(url.slice(start), 'base64') };
}

function referenceTo(part: Record<string, unknown>, image: PartImage): ImageRef {
  const { type: _type, image_url, ...others } = part;
  const { url: _url, ...details } = image_url as Record<string, unknown>;
  const rest = { ...(Object.keys(details).length > 0 ? { image_url: details } : {}), ...others };
  return {
    type: 'image_ref',
    sha256: image.sha256,
    mediaType: image.mediaType,
    bytes: image.size,
    ...(Object.keys(rest).length > 0 ? { rest } : {}),
  };
}
