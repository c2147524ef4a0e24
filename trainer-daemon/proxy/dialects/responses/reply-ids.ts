/** Ids of a reply's items, and reasoning that clients carry about without reading it. */

const SEAL = 'agentic-robo-rl.';

/** `fc_<reply>_2`: kind, reply and place. */
export function itemId(kind: 'rs' | 'msg' | 'fc' | 'ctc', replyId: string, index: number): string {
  return `${kind}_${replyId}_${index}`;
}

/** The reply that an item comes from; undefined for ids that are not ours. */
export function replyIn(id: string | undefined): string | undefined {
  return /^(?:rs|msg|fc|ctc)_([0-9a-f]{24})_\d+$/.exec(id ?? '')?.[1];
}

/** Nothing is secret in it: clients that drop the reasoning's text still send this back. */
export function sealReasoning(text: string): string {
  return SEAL + Buffer.from(JSON.stringify(text)).toString('base64');
}

/** @returns undefined when it was sealed elsewhere. */
export function openReasoning(sealed: string): string | undefined {
  if (!sealed.startsWith(SEAL)) return undefined;
  try {
    const text: unknown = JSON.parse(Buffer.from(sealed.slice(SEAL.length), 'base64').toString());
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
