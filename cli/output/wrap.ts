/**
 * Words broken into lines of a width; further lines begin at an indentation.
 * @param longWords what becomes of a word longer than the width: it is cut, or keeps its line (paths to be copied).
 */
export function wrap(text: string, width: number, indent = 0, longWords: 'cut' | 'keep' = 'cut'): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1];
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
    while (longWords === 'cut' && lines[lines.length - 1].length > width) {
      const long = lines.pop() as string;
      const cut = cutAt(long, width);
      lines.push(long.slice(0, cut), long.slice(cut));
    }
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}

/** Where a long word is best cut: behind a mark in its second half, so that ids and names break at their joints. */
function cutAt(word: string, width: number): number {
  for (let at = width; at > width / 2; at--) if ('.:/-_'.includes(word[at - 1])) return at;
  return width;
}
