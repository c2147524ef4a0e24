/**
 * A request's body as it comes in. Large texts of earlier requests are known while they come: their bytes are compared
 * and dropped, so that a history of images is neither held nor copied again for each call.
 */
import { agree, type KnownText, type KnownTexts } from './known-texts.ts';

/** How a data URL begins; in a JSON document this can only be the beginning of a text, unless the quote is escaped. */
export const BEGINNING = Buffer.from('"data:');
export const BACKSLASH = 0x5c;
const NOTHING = Buffer.alloc(0);

/** Bytes of the document, or a text of an earlier one that stands there byte for byte. */
export type Piece = Buffer | KnownText;

export class IncomingBody {
  private readonly known: KnownTexts;
  private readonly pieces: Piece[] = [];
  /** The text that is coming, as it seems, and how much of it has come. */
  private coming: KnownText | undefined;
  private come = 0;
  private last = 0;

  constructor(known: KnownTexts) {
    this.known = known;
  }

  /** Takes the next bytes; they must not change afterwards. */
  push(part: Buffer): void {
    for (let rest = part; rest.length > 0; ) rest = this.coming ? this.goOn(this.coming, rest) : this.seek(rest);
  }

  /** @returns the pieces of the document, in order. Nothing may be pushed afterwards. */
  end(): Piece[] {
    if (this.coming) this.give(this.coming);
    return this.pieces;
  }

  /** Takes bytes up to the next text that may be known. @returns the bytes from there on. */
  private seek(part: Buffer): Buffer {
    for (let at = part.indexOf(BEGINNING); at >= 0; at = part.indexOf(BEGINNING, at + 1)) {
      if ((at === 0 ? this.last : part[at - 1]) === BACKSLASH) continue;
      const rest = part.subarray(at);
      this.coming = this.known.begin(rest);
      if (this.coming === undefined) continue;
      this.come = 0;
      this.plain(part.subarray(0, at));
      return rest;
    }
    // A beginning that is cut in two is not seen here: whoever reads the document finds that text as one of its own.
    this.plain(part);
    return NOTHING;
  }

  private goOn(coming: KnownText, part: Buffer): Buffer {
    if (!agree(coming.bytes, this.come, part)) {
      const other = this.known.another(coming, this.come, part);
      if (other === undefined) this.give(coming);
      this.coming = other;
      return part;
    }
    const count = Math.min(coming.bytes.length - this.come, part.length);
    this.come += count;
    if (this.come === coming.bytes.length) {
      this.pieces.push(coming);
      this.last = coming.bytes[coming.bytes.length - 1];
      this.coming = undefined;
    }
    return part.subarray(count);
  }

  /** It was another text: what has come of it are the same bytes. */
  private give({ bytes }: KnownText): void {
    this.plain(bytes.subarray(0, this.come));
    this.coming = undefined;
  }

  private plain(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.pieces.push(bytes);
    this.last = bytes[bytes.length - 1];
  }
}
