/** Reads server-sent events (the `text/event-stream` format of the HTML standard) from bytes in pieces of any size. */

export class EventStreamReader {
  private readonly decoder = new TextDecoder();
  private text = '';
  private data: string[] = [];
  private afterReturn = false;

  /** @returns the data of every event that these bytes complete (comments and other fields are dropped). */
  push(bytes: Uint8Array): string[] {
    this.text += this.decoder.decode(bytes, { stream: true });
    const events: string[] = [];
    let start = 0;
    for (let i = 0; i < this.text.length; i++) {
      const code = this.text.charCodeAt(i);
      if (code === 10 && this.afterReturn) {
        // Second half of CR LF: its line has ended already.
        this.afterReturn = false;
        start = i + 1;
        continue;
      }
      this.afterReturn = code === 13;
      if (code !== 10 && code !== 13) continue;
      this.line(this.text.slice(start, i), events);
      start = i + 1;
    }
    this.text = this.text.slice(start);
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
