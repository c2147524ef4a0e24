/** The same configs in other forms of YAML: what stands in the corpus is mostly one form. */
import { isMap, isScalar, parseDocument, type Scalar, visit } from 'yaml';

export interface Form {
  name: string;
  /** The same config in this form; undefined where it has none. */
  rewrite(text: string): string | undefined;
}

const SOUND = { merge: true, uniqueKeys: false, prettyErrors: false } as const;

/** Changes the tree of a text that YAML can read, and writes it again. */
function throughTree(text: string, change: (document: ReturnType<typeof parseDocument>) => void): string | undefined {
  const document = parseDocument(text, SOUND);
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  change(document);
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return undefined; // An alias whose anchor is not there cannot be written.
  }
}

function asBlock(type: 'BLOCK_FOLDED' | 'BLOCK_LITERAL', end: string) {
  return (text: string) =>
    throughTree(text, (document) => {
      setFlow(document, false);
      visit(document, {
        Scalar(key, node) {
          if (key === 'key' || typeof node.value !== 'string' || node.value === '') return;
          const scalar = node as Scalar<string>;
          scalar.type = type;
          scalar.value += end;
        },
      });
    });
}

function setFlow(document: ReturnType<typeof parseDocument>, flow: boolean): void {
  visit(document, {
    Collection(_key, node) {
      if (node !== document.contents) node.flow = flow;
    },
  });
}

/** A comment behind every line that ends a value, and one on a line of its own before it. */
function withComments(text: string): string | undefined {
  return throughTree(text, (document) => {
    setFlow(document, false);
    visit(document, {
      Pair(_key, pair) {
        if (isScalar(pair.key)) pair.key.commentBefore = ' said before: {[, "';
        if (isScalar(pair.value)) pair.value.comment = ' said behind: & *';
      },
      Seq(_key, list) {
        for (const item of list.items) if (isScalar(item)) item.comment = ' of an item';
      },
    });
  });
}

function quoted(type: 'QUOTE_DOUBLE' | 'QUOTE_SINGLE') {
  return (text: string) =>
    throughTree(text, (document) => {
      visit(document, {
        Scalar(_key, node) {
          if (typeof node.value === 'string') node.type = type;
        },
      });
    });
}

/** Every value on the line under its key. */
function valuesBelow(text: string): string | undefined {
  const block = throughTree(text, (document) => setFlow(document, false));
  return block?.replace(/^( *)([A-Za-z]\w*): ([^\s#&*!|>[{"'][^#\n]*)$/gm, '$1$2:\n$1    $3');
}

const BLOCKS: Form[] = [
  { name: 'folded', rewrite: asBlock('BLOCK_FOLDED', '') },
  { name: 'literal', rewrite: asBlock('BLOCK_LITERAL', '') },
  { name: 'folded with a last line break', rewrite: asBlock('BLOCK_FOLDED', '\n') },
];

/** Forms of YAML; those with CRLF are made of these. */
const WITH_LF: Form[] = [
  { name: 'as it is', rewrite: (text) => text },
  ...BLOCKS,
  {
    name: 'blocks with a comment behind their sign',
    rewrite: (text) => BLOCKS[0].rewrite(text)?.replace(/>-$/gm, '>- # why'),
  },
  { name: 'flow style', rewrite: (text) => throughTree(text, (document) => setFlow(document, true)) },
  { name: 'block style', rewrite: (text) => throughTree(text, (document) => setFlow(document, false)) },
  { name: 'comments', rewrite: withComments },
  { name: 'double quotes', rewrite: quoted('QUOTE_DOUBLE') },
  { name: 'single quotes', rewrite: quoted('QUOTE_SINGLE') },
  { name: 'values below their keys', rewrite: valuesBelow },
  { name: 'without a last line break', rewrite: (text) => text.replace(/\s+$/, '') },
];

export const FORMS: Form[] = [
  ...WITH_LF,
  ...WITH_LF.map(({ name, rewrite }) => ({
    name: `${name}, CRLF`,
    rewrite: (text: string) => rewrite(text.replace(/\r\n/g, '\n'))?.replace(/\r?\n/g, '\r\n'),
  })),
];

/** Every value of a text, in its order; what a fix may not lose. */
export function valuesOf(text: string): unknown[] {
  const values: unknown[] = [];
  visit(parseDocument(text, SOUND), {
    Scalar(key, node) {
      if (key !== 'key') values.push(node.value);
    },
  });
  return values.filter((value) => value !== null);
}
