/** Variables that are made of something else, so that looking at them is looking at that. */
import ts from 'typescript6';

/** Names of the file's variables whose values are made of something of a name, directly or through other variables. */
export function derivedNames(source: ts.SourceFile, from: readonly string[]): string[] {
  let made = known.get(source);
  if (!made) {
    made = new Map();
    collect(source, made);
    known.set(source, made);
  }
  const found = new Set(from);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const [name, parts] of made) if ([...parts].some((part) => found.has(part))) found.add(name);
  }
  return [...found];
}

const known = new WeakMap<ts.SourceFile, Map<string, Set<string>>>();

function collect(node: ts.Node, made: Map<string, Set<string>>): void {
  if (ts.isVariableDeclaration(node) && node.initializer) {
    const parts = new Set<string>();
    names(node.initializer, parts);
    const own = new Set<string>();
    names(node.name, own);
    for (const name of own) made.set(name, new Set([...(made.get(name) ?? []), ...parts]));
  }
  ts.forEachChild(node, (child) => collect(child, made));
}

function names(node: ts.Node, into: Set<string>): void {
  if (ts.isIdentifier(node)) into.add(node.text);
  ts.forEachChild(node, (child) => names(child, into));
}
