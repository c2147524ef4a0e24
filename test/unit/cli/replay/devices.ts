/** A terminal of a test: keys go in, and what a person would see comes out. */
import { EventEmitter } from 'node:events';
import { vi } from 'vitest';
import { painterFor } from '../../../../cli/output/terminal.ts';
import type { Devices } from '../../../../cli/replay/full-screen.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal is steered by
const MOVE = /\u001b\[(\d+);1H/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const SEQUENCE = /\u001b\[[0-9;?]*[A-Za-z]/g;

export class TestTerminal {
  readonly input = Object.assign(new EventEmitter(), {
    raw: false,
    setRawMode: (mode: boolean) => {
      this.input.raw = mode;
      return this.input;
    },
    resume: () => this.input,
    pause: () => this.input,
  });
  readonly output = Object.assign(new EventEmitter(), {
    rows: 24,
    columns: 80,
    write: (text: string) => {
      this.written += text;
      return true;
    },
  });
  written = '';

  devices(environment: Record<string, string> = {}): Devices {
    return { input: this.input, output: this.output, paint: painterFor(true, environment) } as unknown as Devices;
  }

  /** Lines on the screen, without colours. */
  get lines(): string[] {
    const parts = this.written.split(MOVE);
    const lines: string[] = [];
    for (let k = 1; k + 1 < parts.length; k += 2) lines[Number(parts[k]) - 1] = parts[k + 1].replace(SEQUENCE, '');
    return lines.slice(0, this.output.rows);
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** Bytes as a keyboard sends them. */
  type(text: string): void {
    this.input.emit('data', Buffer.from(text));
  }

  resize(rows: number, columns: number): void {
    Object.assign(this.output, { rows, columns });
    this.output.emit('resize');
  }

  /** Waits until the screen shows something. */
  async shows(pattern: RegExp): Promise<void> {
    await vi.waitFor(
      () => {
        if (!pattern.test(this.text)) throw new Error(`${pattern} is not on the screen:\n${this.text}`);
      },
      { timeout: 20_000, interval: 5 },
    );
  }
}

export const KEYS = {
  left: '\u001b[D',
  right: '\u001b[C',
  up: '\u001b[A',
  down: '\u001b[B',
  home: '\u001b[H',
  end: '\u001b[F',
  pageDown: '\u001b[6~',
  interrupt: '\u0003',
};
