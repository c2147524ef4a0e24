/** A request's body: its bytes, and what they say. */
import type { IncomingMessage } from 'node:http';
import type { Piece } from '../incoming-body.ts';
import type { KnownTexts } from '../known-texts.ts';
import { documentOf, type JsonDocument, type LargeText, parseJson } from '../large-texts.ts';
import { RefusedRequest } from './contract.ts';

/** Deeper values are refused: they would overflow the stack of whatever writes them out again. */
const DEEPEST = 500;

/**
 * @param onPart is given the bytes as they come.
 * @returns whether all came; false when the client hung up.
 * @throws RefusedRequest, with the rest of the body unread, when it is larger than `limit` bytes or compressed.
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  onPart: (part: Buffer) => void,
): Promise<boolean> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new RefusedRequest('encoding_not_supported', `send the body without ${encoding} encoding`, 415);
  const tooLarge = () => new RefusedRequest('request_too_large', `the request is larger than ${limit} bytes`, 413);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  let size = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= limit) {
        onPart(part);
        return;
      }
      request.removeAllListeners('data').pause();
      reject(tooLarge());
    });
    request.on('end', () => resolve(true));
    request.on('close', () => resolve(false));
    request.on('error', () => resolve(false));
  });
}

/** @throws RefusedRequest */
export function parseBody(
  pieces: readonly Piece[],
  known: KnownTexts,
): { body: unknown; texts: LargeText[]; document: JsonDocument } {
  const document = documentOf(pieces, known);
  let body: unknown;
  let texts: LargeText[];
  try {
    ({ value: body, texts } = parseJson(document));
  } catch {
    throw new RefusedRequest('invalid_json', 'the request body is not JSON in UTF-8');
  }
  const fault = faultIn(body);
  if (fault === 'deep')
    throw new RefusedRequest('invalid_request', `the request is nested deeper than ${DEEPEST} levels`);
  if (fault === 'endless')
    throw new RefusedRequest(
      'invalid_request',
      `${endlessIn(body, '')?.slice(0, 200)} is a number too large for double precision: send one that is smaller than 1.8e308`,
    );
  return { body, texts, document };
}

/** What nobody could write out again as it came: values in values without end, and numbers that were read as infinite. */
function faultIn(value: unknown): 'deep' | 'endless' | undefined {
  let level = [value];
  let endless = false;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return 'deep';
    const next: unknown[] = [];
    for (const each of level)
      if (typeof each === 'object' && each !== null)
        for (const inner of Object.values(each))
          if (typeof inner === 'object') {
            if (inner !== null) next.push(inner);
          } else if (typeof inner === 'number' && !Number.isFinite(inner)) endless = true;
    level = next;
  }
  return endless || (typeof value === 'number' && !Number.isFinite(value)) ? 'endless' : undefined;
}

/** The place of the first infinite number; not called for values that are too deep. */
function endlessIn(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path || 'the request';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = endlessIn(inner, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
