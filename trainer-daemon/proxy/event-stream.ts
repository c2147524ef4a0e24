/** Reads server-sent events (the `text/event-stream` format of the HTML standard) from bytes in pieces of any size. */

export class EventStreamReader {
  private readonly decoder = new TextDecoder();
  /** Pieces of the line that has not ended; put together once, so that a long line costs its length and no more. */
  private unended: string[] = [];
  private data: string[] = [];
  private afterReturn = false;

  /** @returns the data of every event that these bytes complete (comments and other fields are dropped). */
  push(bytes: Uint8Array): string[] {
    const text = this.decoder.decode(bytes, { stream: true });
    const events: string[] = [];
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 10 && this.afterReturn) {
        // Second half of CR LF: its line has ended already.
        this.afterReturn = false;
        start = i + 1;
        continue;
      }
      this.afterReturn = code === 13;
      if (code !== 10 && code !== 13) continue;
      this.unended.push(text.slice(start, i));
      this.line(this.unended.join(''), events);
      this.unended = [];
      start = i + 1;
    }
    if (start < text.length) this.unended.push(text.slice(start));
    return events;
  }

  private line(line: string, events: string[]): void {
    if (line === '') {
      if (this.data.length > 0) events.push(this.data.join('\n'));
      this.data = [];
      return;
    }
    if (line.startsWith('data:')) this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line === 'data') this.data.push('');
  }
}

/** One event as it is sent. */
export function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}
