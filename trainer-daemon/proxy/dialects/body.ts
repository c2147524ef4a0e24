/** A request's body: its bytes, and what they say. */
import type { IncomingMessage } from 'node:http';
import type { KnownTexts } from '../known-texts.ts';
import { type LargeText, parseJson } from '../large-texts.ts';
import { RefusedRequest } from './contract.ts';

/** Deeper values are refused: they would overflow the stack of whatever writes them out again. */
const DEEPEST = 500;

/**
 * @param onPart called as the bytes come.
 * @returns undefined when the client hung up.
 * @throws RefusedRequest, with the rest of the body unread, when it is larger than `limit` bytes or compressed.
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  onPart: () => void,
): Promise<Buffer | undefined> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new RefusedRequest('encoding_not_supported', `send the body without ${encoding} encoding`, 415);
  const tooLarge = () => new RefusedRequest('request_too_large', `the request is larger than ${limit} bytes`, 413);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (part: Buffer) => {
      onPart();
      size += part.length;
      if (size <= limit) {
        parts.push(part);
        return;
      }
      request.removeAllListeners('data').pause();
      reject(tooLarge());
    });
    request.on('end', () => resolve(parts.length === 1 ? parts[0] : Buffer.concat(parts)));
    request.on('close', () => resolve(undefined));
    request.on('error', () => resolve(undefined));
  });
}

/** @throws RefusedRequest */
export function parseBody(bytes: Buffer, known: KnownTexts): { body: unknown; texts: LargeText[] } {
  let body: unknown;
  let texts: LargeText[];
  try {
    ({ value: body, texts } = parseJson(bytes, known));
  } catch {
    throw new RefusedRequest('invalid_json', 'the request body is not JSON in UTF-8');
  }
  if (isDeep(body)) throw new RefusedRequest('invalid_request', `the request is nested deeper than ${DEEPEST} levels`);
  return { body, texts };
}

function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    const next: unknown[] = [];
    for (const each of level)
      if (typeof each === 'object' && each !== null)
        for (const inner of Object.values(each)) if (typeof inner === 'object' && inner !== null) next.push(inner);
    level = next;
  }
  return false;
}
