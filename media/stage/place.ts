/**
 * Where the page stands, and how it stays in step with the host's cursor: the host tells every move, also those that the
 * page asked for. While moves that were asked for are under way, the page is ahead and does not jump back to the ones in
 * between; the last one told is where both stand.
 */
import type { StagePosition } from '../../extension/replay/stage/data.ts';

export class Place {
  private at: StagePosition;
  private asked: StagePosition[] = [];

  constructor(at: StagePosition) {
    this.at = at;
  }

  get position(): StagePosition {
    return this.at;
  }

  /** The page goes somewhere. @returns whether the host has to be asked. */
  ask(to: StagePosition): boolean {
    if (same(to, this.at)) return false;
    this.at = to;
    this.asked.push(to);
    return true;
  }

  /** The host tells where the cursor stands. @returns whether the page has to go there. */
  told(to: StagePosition): boolean {
    const found = this.asked.findIndex((one) => same(one, to));
    if (found >= 0) this.asked.splice(0, found + 1);
    if (this.asked.length > 0 || same(to, this.at)) return false;
    this.at = to;
    return true;
  }

  /** A move that was asked for was refused: what the host tells next counts. */
  forget(): void {
    this.asked = [];
  }
}

export function same(a: StagePosition, b: StagePosition): boolean {
  return a.call === b.call && a.part === b.part;
}
