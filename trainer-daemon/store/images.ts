/** Images inside messages: `data:` URLs become references to files, everything else stays as it is. */
import type { Message } from '../../protocol/chat.ts';
import { sha256 } from '../../protocol/random.ts';
import type { ImageRef } from '../../protocol/records.ts';

export interface DecodedImage {
  sha256: string;
  /** File name extension with the dot. */
  extension: string;
  bytes: Buffer;
}

const EXTENSIONS: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
  'image/gif': '.gif',
};
const HEADER = /^data:([A-Za-z]+\/[A-Za-z0-9.+-]+);base64,/;

/** A message whose `data:` images are image_ref parts, and the images. The message given is not changed. */
export function takeImages(message: Message): { message: Message; images: DecodedImage[] } {
  if (!Array.isArray(message.content)) return { message, images: [] };
  const images: DecodedImage[] = [];
  const content = message.content.map((part) => {
    const image = imageOf(part);
    if (!image) return part;
    images.push(image);
    return referenceTo(part, image);
  });
  return images.length > 0 ? { message: { ...message, content }, images } : { message, images };
}

interface PartImage extends DecodedImage {
  mediaType: string;
}

function imageOf(part: Record<string, unknown>): PartImage | undefined {
  const holder = part.image_url;
  if (part.type !== 'image_url' || typeof holder !== 'object' || holder === null) return undefined;
  const { url } = holder as { url?: unknown };
  if (typeof url !== 'string') return undefined;
  const header = HEADER.exec(url.slice(0, 200));
  if (!header) return undefined;
  const text = url.slice(header[0].length);
  const bytes = Buffer.from(text, 'base64');
  // Decoding skips what is no base64. Only what encodes back to the same text is taken out of the message.
  if (bytes.length === 0 || bytes.toString('base64') !== text) return undefined;
  const extension = EXTENSIONS[header[1].toLowerCase()] ?? '.bin';
  return { sha256: sha256(bytes), extension, bytes, mediaType: header[1] };
}

function referenceTo(part: Record<string, unknown>, image: PartImage): ImageRef {
  const { type: _type, image_url, ...others } = part;
  const { url: _url, ...details } = image_url as Record<string, unknown>;
  const rest = { ...(Object.keys(details).length > 0 ? { image_url: details } : {}), ...others };
  return {
    type: 'image_ref',
    sha256: image.sha256,
    mediaType: image.mediaType,
    bytes: image.bytes.length,
    ...(Object.keys(rest).length > 0 ? { rest } : {}),
  };
}
