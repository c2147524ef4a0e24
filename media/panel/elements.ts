/** Makes elements. Texts become text nodes and nothing else, whatever is in them. */

export type Child = Node | string | number;
type Attributes = Record<string, string | number | boolean | undefined>;

/** Attributes that a browser would run or fetch. */
const FORBIDDEN = /^(?:on|style$|src|href$|action$|formaction$|innerhtml$)/i;

/** An element with attributes (`undefined` and `false`: without) and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (FORBIDDEN.test(key)) throw new Error(`the page makes no elements with ${key}`);
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : String(value));
  }
  made.append(...children.map(nodeOf));
  return made;
}

function nodeOf(child: Child): Node | string {
  return typeof child === 'number' ? String(child) : child;
}

export function button(label: string, onClick: () => void, more: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...more }, label);
  made.addEventListener('click', onClick);
  return made;
}

export interface Cell {
  text: string;
  /** Numbers stand at the right. */
  number?: boolean;
  /** Heads its row. */
  head?: boolean;
}

/** A table in a frame of its own that scrolls, by keyboard too. */
export function table(caption: string, heads: Cell[], rows: (Cell | Node)[][]): HTMLDivElement {
  const made = element('table', {}, element('caption', { class: 'unseen' }, caption), headOf(heads), bodyOf(rows));
  return element('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': caption }, made);
}

export function headOf(heads: Cell[]): HTMLTableSectionElement {
  const cells = heads.map(({ text, number }) => element('th', { scope: 'col', class: number && 'number' }, text));
  return element('thead', {}, element('tr', {}, ...cells));
}

export function bodyOf(rows: (Cell | Node)[][]): HTMLTableSectionElement {
  return element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cellOf))));
}

function cellOf(cell: Cell | Node): Node {
  if (cell instanceof Node) return element('td', {}, cell);
  const { text, number, head } = cell;
  return head ? element('th', { scope: 'row' }, text) : element('td', { class: number && 'number' }, text);
}
