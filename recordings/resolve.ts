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

/** A call as far as it can be put together. */
export interface CallInPart {
  /** {@link UNREAD_MESSAGE} for each message, and null for tools and prompt ids that cannot be read. */
  call: ResolvedCall;
  /** What of its context cannot be read, and why; empty for a whole call. */
  problems: string[];
  /** Its line in the file, from 1; 0 where it is in none. */
  line: number;
}

/** Stands for a message that cannot be read, so that those after it keep their numbers. It is known by identity alone. */
export const UNREAD_MESSAGE: Message = { role: 'system', content: 'This message cannot be read.' };

/** No request has as many messages; a larger number of shared ones was not written by us. */
const MOST_UNREAD = 100_000;

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
    const { call, problems, line } = await this.resolveInPart(record);
    return problems.length === 0 ? call : { damaged: `call ${record.id}: ${problems[0]}`, line };
  }

  /**
   * The call with what can be put in place, for those who look at it: what it holds itself is told whatever became of the
   * calls and bodies that its context is put together from. Who trains or counts takes {@link resolve}.
   */
  async resolveInPart(record: CallRecord): Promise<CallInPart> {
    const place = originOf(record) ?? (await this.locate(record));
    const problems: string[] = [];
    const messages = await this.messagesOf(record, place, problems);
    let tools: Tool[] | null = null;
    if (record.request.tools !== null) {
      const found = await this.bodies.body(record.request.tools);
      if (isDamaged(found)) problems.push(found.damaged);
      else if (toolsSchema.safeParse(found.body).success) tools = found.body as Tool[];
      else problems.push(`the body ${record.request.tools} is no tool list`);
    }
    let promptTokenIds: number[] | null = null;
    if (record.prompt) {
      const { items, problem } = await this.prompts.read(record, place);
      if (problem !== undefined) problems.push(problem);
      else if (items.length !== record.prompt.length)
        problems.push(`the prompt has ${items.length} ids where ${record.prompt.length} are recorded`);
      else promptTokenIds = items.slice() as number[];
    }
    const { version: _version, request, prompt: _prompt, ...others } = record;
    const call = { ...others, request: { messages, tools, other: request.other }, promptTokenIds };
    return { call, problems, line: place ? place.position + 1 : 0 };
  }

  /** Messages of a call, {@link UNREAD_MESSAGE} for each that cannot be read; the first reason goes to `problems`. */
  private async messagesOf(record: CallRecord, place: CallPlace | undefined, problems: string[]): Promise<Message[]> {
    const { items, problem } = await this.messages.read(record, place);
    if (problem !== undefined) problems.push(problem);
    let unread: string | undefined;
    const messages: Message[] = [];
    for (const hash of items) {
      const found = hash === undefined ? undefined : await this.bodies.body(hash);
      const message = found && !isDamaged(found) ? (found.body as Message) : UNREAD_MESSAGE;
      if (found && isDamaged(found)) unread ??= found.damaged;
      else if (found && !this.known.has(message)) {
        if (messageSchema.safeParse(message).success) this.known.add(message);
        else {
          unread ??= `the body ${hash} is no message`;
          messages.push(UNREAD_MESSAGE);
          continue;
        }
      }
      messages.push(message);
    }
    if (unread !== undefined) problems.push(unread);
    return messages;
  }
}

/** A list, undefined for each item that cannot be read; `problem` says why there are such. */
interface ReadList<T> {
  items: (T | undefined)[];
  problem?: string;
}

class ListReader<T> {
  /** With its verb: `its prompt starts`. */
  private readonly starts: string;
  private readonly shares: string;
  private readonly pick: (call: CallRecord) => StoredList<T> | null;
  /** By file and line; `snapshot` keeps a replaced file from being mixed with what it replaced. */
  private readonly cache = new Map<string, ReadList<T> & { snapshot: object }>();

  constructor(what: 'prompt' | 'messages', pick: (call: CallRecord) => StoredList<T> | null) {
    this.starts = what === 'messages' ? 'its messages start' : 'its prompt starts';
    this.shares = what === 'messages' ? 'its messages share' : 'its prompt shares';
    this.pick = pick;
  }

  /**
   * Walks back from call to call until a list that starts from none, one known, or one that cannot be read. Each base lies
   * before the call that names it, so the walk ends whatever the file says.
   */
  async read(record: CallRecord, place: CallPlace | undefined): Promise<ReadList<T>> {
    const steps: { list: StoredList<T>; key: string | undefined; snapshot: object | undefined }[] = [];
    let items: (T | undefined)[] = [];
    let problem: string | undefined;
    let passing = false;
    let call = record;
    let at = place;
    for (;;) {
      const list = this.pick(call);
      if (!list) {
        problem = `${this.starts} from call ${call.id}, which has none`;
        break;
      }
      const key = at && `${at.index.path}:${at.position}`;
      const snapshot = originOf(call)?.snapshot;
      const known = key === undefined ? undefined : this.cache.get(key);
      if (known && known.snapshot === snapshot) {
        ({ items, problem } = known);
        break;
      }
      steps.push({ list, key, snapshot });
      if (list.base === null) break;
      const base = at && (await at.index.byId(list.base, at.position));
      const origin = base && !isDamaged(base) ? originOf(base) : undefined;
      if (!at || !base || isDamaged(base) || !origin) {
        const from = `${this.starts} from call ${list.base}, which`;
        if (!at) problem = `${from} cannot be looked up: the call is in no file of the run`;
        else if (base === undefined) problem = `${from} is missing`;
        else if (isDamaged(base)) problem = `${from} is damaged (line ${base.line}: ${base.damaged})`;
        else problem = 'the file was replaced while it was being read; try again';
        passing = base !== undefined && !isDamaged(base);
        break;
      }
      call = base;
      at = { index: at.index, position: origin.position };
    }
    for (const { list, key, snapshot } of steps.reverse()) {
      if (list.shared > items.length) {
        // Of a list that cannot be read nothing else is to be expected.
        if (list.base === null) problem ??= `${this.shares} ${list.shared} items with no call`;
        problem ??= `${this.shares} ${list.shared} items with call ${list.base}, which has ${items.length}`;
        const lacking = Math.min(list.shared, MOST_UNREAD) - items.length;
        if (lacking > 0) items = items.concat(new Array<undefined>(lacking).fill(undefined));
      }
      // A prompt has tens of thousands of ids, and an episode hundreds of prompts: spreading them takes ten times as long.
      items = items.slice(0, list.shared).concat(list.items);
      if (key !== undefined && snapshot !== undefined && !passing) this.remember(key, { snapshot, items, problem });
    }
    return { items, problem };
  }

  private remember(key: string, list: ReadList<T> & { snapshot: object }): void {
    this.cache.delete(key);
    this.cache.set(key, list);
    if (this.cache.size > CACHED_LISTS) {
      for (const oldest of this.cache.keys()) {
        this.cache.delete(oldest);
        break;
      }
    }
  }
}
