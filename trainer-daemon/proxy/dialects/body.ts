/** A request's body from its bytes. */
import { RefusedRequest } from './contract.ts';

/** Deeper values are refused: they would overflow the stack of whatever writes them out again. */
const DEEPEST = 500;

/** @throws RefusedRequest */
export function parseBody(bytes: Buffer): unknown {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new RefusedRequest('invalid_json', 'the request body is not JSON in UTF-8');
  }
  if (isDeep(body)) throw new RefusedRequest('invalid_request', `the request is nested deeper than ${DEEPEST} levels`);
  return body;
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
