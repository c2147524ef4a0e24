/** From a stored call to the whole one: message lists and prompt ids are put together through the calls they start from. */
import { z } from 'zod';
import { type Message, messageSchema, type Tool, toolSchema } from '../protocol/chat.ts';
import type { CallRecord, ResolvedCall } from '../protocol/records.ts';
import type { BodyReader } from './bodies.ts';
import { type Damaged, isDamaged } from './documents.ts';
import { originOf, type RecordIndex } from './record-index.ts';

/** A list stored as the first `shared` items of the list of call `base`, then `items`. */
interface StoredList<T> {
  base: string | null;
  shared: number;
  items: T[];
}

/** Where a call was found. */
export interface CallPlace {
  index: RecordIndex<CallRecord>;
  position: number;
}

/** Finds the file and line of a call that was not read through one of our indexes. */
export type LocateCall = (record: CallRecord) => Promise<CallPlace | undefined>;

const toolsSchema = z.array(toolSchema);
/** Lists kept for the next call, which mostly starts from one of them. */
const CACHED_LISTS = 32;

export class CallResolver {
  private readonly bodies: BodyReader;
  private readonly locate: LocateCall;
  /** Bodies that were found to be messages; a transcript repeats each of them in every later call. */
  private readonly known = new WeakSet<object>();
  private readonly prompts = new ListReader<number>(
    'prompt',
    (call) => call.prompt && { ...call.prompt, items: call.prompt.suffix },
  );
  private readonly messages = new ListReader<string>('messages', ({ request }) => ({
    base: request.start?.base ?? null,
    shared: request.start?.shared ?? 0,
    items: request.messages,
  }));

  constructor(bodies: BodyReader, locate: LocateCall) {
    this.bodies = bodies;
    this.locate = locate;
  }

  /** The call with everything in place, or what is missing. Bodies are shared between calls: do not change them. */
  async resolve(record: CallRecord): Promise<ResolvedCall | Damaged> {
    const place = originOf(record) ?? (await this.locate(record));
    const line = place ? place.position + 1 : 0;
    const fail = (problem: string): Damaged => ({ damaged: `call ${record.id}: ${problem}`, line });

    const hashes = await this.messages.read(record, place);
    if ('problem' in hashes) return fail(hashes.problem);
    const messages: Message[] = [];
    for (const hash of hashes.items) {
      const found = await this.bodies.body(hash);
      if (isDamaged(found)) return fail(found.damaged);
      const message = found.body as Message;
      if (!this.known.has(message)) {
        if (!messageSchema.safeParse(message).success) return fail(`the body ${hash} is no message`);
        this.known.add(message);
      }
      messages.push(message);
    }
    let tools: Tool[] | null = null;
    if (record.request.tools !== null) {
      const found = await this.bodies.body(record.request.tools);
      if (isDamaged(found)) return fail(found.damaged);
      if (!toolsSchema.safeParse(found.body).success) return fail(`the body ${record.request.tools} is no tool list`);
      tools = found.body as Tool[];
    }
    let promptTokenIds: number[] | null = null;
    if (record.prompt) {
      const ids = await this.prompts.read(record, place);
      if ('problem' in ids) return fail(ids.problem);
      if (ids.items.length !== record.prompt.length) {
        return fail(`the prompt has ${ids.items.length} ids where ${record.prompt.length} are recorded`);
      }
      promptTokenIds = ids.items.slice();
    }
    const { version: _version, request, prompt: _prompt, ...others } = record;
    return { ...others, request: { messages, tools, other: request.other }, promptTokenIds };
  }
}

class ListReader<T> {
  private readonly what: string;
  private readonly pick: (call: CallRecord) => StoredList<T> | null;
  /** By file and line; `snapshot` keeps a replaced file from being mixed with what it replaced. */
  private readonly cache = new Map<string, { snapshot: object; items: T[] }>();

  constructor(what: string, pick: (call: CallRecord) => StoredList<T> | null) {
    this.what = what;
    this.pick = pick;
  }

  /**
   * Walks back from call to call until a list that starts from none, or one known. Each base lies before the call that
   * names it, so the walk ends whatever the file says.
   */
  async read(record: CallRecord, place: CallPlace | undefined): Promise<{ items: T[] } | { problem: string }> {
    const steps: { list: StoredList<T>; key: string | undefined; snapshot: object | undefined }[] = [];
    let items: T[] = [];
    let call = record;
    let at = place;
    for (;;) {
      const list = this.pick(call);
      if (!list) return { problem: `its ${this.what} starts from call ${call.id}, which has none` };
      const key = at && `${at.index.path}:${at.position}`;
      const snapshot = originOf(call)?.snapshot;
      const known = key === undefined ? undefined : this.cache.get(key);
      if (known && known.snapshot === snapshot) {
        items = known.items;
        break;
      }
      steps.push({ list, key, snapshot });
      if (list.base === null) break;
      if (!at)
        return {
          problem: `its ${this.what} starts from call ${list.base}, which cannot be looked up: the call is in no file of the run`,
        };
      const base = await at.index.byId(list.base, at.position);
      if (base === undefined) return { problem: `its ${this.what} starts from call ${list.base}, which is missing` };
      if (isDamaged(base))
        return {
          problem: `its ${this.what} starts from call ${list.base}, which is damaged (line ${base.line}: ${base.damaged})`,
        };
      const origin = originOf(base);
      if (!origin) return { problem: 'the file was replaced while it was being read; try again' };
      call = base;
      at = { index: at.index, position: origin.position };
    }
    for (const { list, key, snapshot } of steps.reverse()) {
      if (list.base === null) {
        if (list.shared > 0) return { problem: `its ${this.what} shares ${list.shared} items with no call` };
        items = list.items;
      } else {
        if (list.shared > items.length) {
          return {
            problem: `its ${this.what} shares ${list.shared} items with call ${list.base}, which has ${items.length}`,
          };
        }
        // A prompt has tens of thousands of ids, and an episode hundreds of prompts: spreading them takes ten times as long.
        items = items.slice(0, list.shared).concat(list.items);
      }
      if (key !== undefined && snapshot !== undefined) this.remember(key, snapshot, items);
    }
    return { items };
  }

  private remember(key: string, snapshot: object, items: T[]): void {
    this.cache.delete(key);
    this.cache.set(key, { snapshot, items });
    if (this.cache.size > CACHED_LISTS) {
      for (const oldest of this.cache.keys()) {
        this.cache.delete(oldest);
        break;
      }
    }
  }
}
