/** Reads the table of activated extensions in the text of VS Code's "Developer: Startup Performance". */

/** Milliseconds. */
export interface Activation {
  /** Of the extension. */
  id: string;
  /** Loading its code, and calling its `activate`: both hold up the extension host. */
  load: number;
  call: number;
  /** Until what `activate` returned was there. */
  finish: number;
}

/** @throws Error when the text has no such table, or one with other columns. */
export function activationsIn(text: string): Activation[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const head = lines.findIndex((line) => line.startsWith('| Extension ') && line.includes('Load Code'));
  const columns = head < 0 ? [] : cellsOf(lines[head]);
  const [load, call, finish] = ['Load Code', 'Call Activate', 'Finish Activate'].map((name) => columns.indexOf(name));
  if (load < 0 || call < 0 || finish < 0) throw new Error('no table of activated extensions in the text');
  const found: Activation[] = [];
  // After the head comes a rule.
  for (const line of lines.slice(head + 2)) {
    if (!line.startsWith('|')) break;
    const cells = cellsOf(line);
    found.push({ id: cells[0], load: Number(cells[load]), call: Number(cells[call]), finish: Number(cells[finish]) });
  }
  return found;
}

/** The cells of `| a | b |`. */
function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}
