/**
 * Foreign text (of links, recordings, daemons, adapters, names of folders) as it may stand in what the editor shows. The
 * editor makes links of `[words](command:...)` in notifications and icons of `$(name)` in lists. Knows nothing of VS Code.
 */
import { cutAt, shown, shownInLine } from '../recordings/replay/index.ts';

/** Characters of a message; the editor itself shows no more than 1000. */
const LONGEST_MESSAGE = 600;
/** Of a longer message, so much of its end is kept: it says what is wrong, what comes before it mostly where. */
const END_KEPT = 200;
const LONGEST_LABEL = 300;
const LONGEST_TOOLTIP = 4000;

/** The text of a message, in one line: nothing in it is a link, unseen characters are marks, a long one lacks its middle. */
export function plainMessage(text: string): string {
  // Cut twice: marks are longer than what they stand for.
  const line = shown(withoutMiddle(text)).replaceAll(/\s*\n\s*/g, ' ');
  return withoutMiddle(withoutLinks(line));
}

/** The same with its lines, for the small print of a dialog. */
export function plainDetail(text: string): string {
  return withoutMiddle(withoutLinks(shown(withoutMiddle(text))));
}

/** A text in a list, a tree, a title or a prompt, in one line: nothing in it is an icon or a link, unseen characters are marks. */
export function plainLabel(text: string): string {
  return withoutLinks(shownInLine(text, LONGEST_LABEL)).replaceAll('$(', '$ (');
}

/** A link is one only where its two brackets meet. */
function withoutLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

function withoutMiddle(text: string): string {
  if (text.length <= LONGEST_MESSAGE) return text;
  // A half of a pair at the start of the end would be seen as a mark.
  const end = text.slice(-END_KEPT).replace(/^[\udc00-\udfff]/, '');
  return `${cutAt(text, LONGEST_MESSAGE - END_KEPT - 1)}…${end}`;
}

/** Texts of an item in a tree. */
interface ItemTexts {
  label?: unknown;
  description?: unknown;
  tooltip?: unknown;
}

/** The same item with plain texts; only a tooltip may have lines. */
export function plainItem<T extends ItemTexts>(item: T): T {
  if (typeof item.label === 'string') item.label = plainLabel(item.label);
  if (typeof item.description === 'string') item.description = plainLabel(item.description);
  if (typeof item.tooltip === 'string') item.tooltip = shown(cutAt(item.tooltip, LONGEST_TOOLTIP));
  return item;
}
