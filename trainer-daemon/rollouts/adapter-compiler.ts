/**
 * Loads an adapter written in TypeScript or JavaScript: transpiles it and the workspace files it imports, and runs them
 * with a `require` that knows `agentic-robo-rl`, Node's own modules and files under the workspace, nothing else.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin, SourceMap } from 'node:module';
import { dirname, extname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import ts from 'typescript6';
import { isInside } from './output-folder.ts';

export const PACKAGE = 'agentic-robo-rl';
const EXTENSIONS = ['', '.ts', '.mts', '.mjs', '.js', '.json'];
const builtin = createRequire(import.meta.url);

export interface CompiledAdapter {
  /** The module's exports. */
  exports: Record<string, unknown>;
  /** Rewrites `file:line:column` of a stack frame to the place in the source as written. */
  place(stack: string): string | undefined;
}

/**
 * @param packageExports what `import ... from 'agentic-robo-rl'` gives.
 * @throws Error naming file, line and column of a syntax error or the import that cannot be resolved.
 */
export function compileAdapter(
  file: string,
  workspace: string,
  packageExports: Record<string, unknown>,
): CompiledAdapter {
  const root = realpathSync(workspace);
  const modules = new Map<string, { exports: Record<string, unknown> }>();
  const maps = new Map<string, SourceMap>();

  const load = (path: string): Record<string, unknown> => {
    const known = modules.get(path);
    if (known) return known.exports;
    const module = { exports: {} as Record<string, unknown> };
    modules.set(path, module);
    if (extname(path) === '.json') {
      const value = JSON.parse(readFileSync(path, 'utf8'));
      module.exports = { ...value, default: value, __esModule: true };
      return module.exports;
    }
    const { code, map } = transpile(path);
    maps.set(path, map);
    const run = compileFunction(code, ['exports', 'require', 'module', '__importMeta'], { filename: path });
    const meta = { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) };
    run(module.exports, (specifier: string) => resolveImport(specifier, path), module, meta);
    return module.exports;
  };

  const resolveImport = (specifier: string, from: string): unknown => {
    if (specifier === PACKAGE) return { ...packageExports, __esModule: true };
    if (isBuiltin(specifier)) return builtin(specifier);
    const where = relative(root, from);
    if (!specifier.startsWith('.'))
      throw new Error(
        `${where} imports "${specifier}": an adapter may import "${PACKAGE}", Node's own modules and files of the workspace, no other package`,
      );
    const target = findFile(resolve(dirname(from), specifier));
    if (target === undefined) throw new Error(`${where} imports "${specifier}", which does not exist`);
    if (!isInside(root, target)) throw new Error(`${where} imports "${specifier}", which lies outside ${root}`);
    return load(target);
  };

  const place = (stack: string): string | undefined => {
    // What the engine refuses to compile has its file and line above the error, and no column.
    const [, refused, at] = /^(.+):(\d+)\n[\s\S]*\n(?:\w*Error)\b/.exec(stack) ?? [];
    const entry = maps.get(refused ?? '')?.findEntry(Number(at) - 1, 0);
    if (entry && 'originalLine' in entry) return `${relative(root, refused)}:${entry.originalLine + 1}`;
    for (const [, path, line, column] of stack.matchAll(/\(?([^()\s]+):(\d+):(\d+)\)?/g)) {
      const map = maps.get(path);
      if (!map) continue;
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalLine' in entry)) return `${relative(root, path)}:${line}:${column}`;
      return `${relative(root, path)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    }
    return undefined;
  };

  try {
    return { exports: load(realpathSync(file)), place };
  } catch (error) {
    const where = error instanceof Error ? place(error.stack ?? '') : undefined;
    throw where === undefined ? error : new Error(`${(error as Error).message} (${where})`);
  }
}

function findFile(base: string): string | undefined {
  const written = [base, base.replace(/\.js$/, '.ts'), base.replace(/\.mjs$/, '.mts')];
  for (const candidate of written.flatMap((each) => EXTENSIONS.map((extension) => each + extension)))
    if (existsSync(candidate) && statSync(candidate).isFile()) return realpathSync(candidate);
  return undefined;
}

function transpile(path: string): { code: string; map: SourceMap } {
  const source = readFileSync(path, 'utf8');
  const result = ts.transpileModule(source, {
    // The extensions .mts and .mjs would make TypeScript keep `import` statements.
    fileName: path.replace(/\.mts$/, '.ts').replace(/\.mjs$/, '.js'),
    reportDiagnostics: true,
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      esModuleInterop: true,
      sourceMap: true,
      ignoreDeprecations: '6.0',
    },
    transformers: { before: [replaceImportMeta] },
  });
  const [problem] = result.diagnostics?.filter((each) => each.category === ts.DiagnosticCategory.Error) ?? [];
  if (problem) {
    const at = problem.file?.getLineAndCharacterOfPosition(problem.start ?? 0);
    const place = at ? `:${at.line + 1}:${at.character + 1}` : '';
    throw new Error(`${path}${place}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`);
  }
  const waits = topLevelAwait(source, path);
  if (waits !== undefined)
    throw new Error(
      `${path}:${waits}: an adapter may not wait at its top level: move the await into launch(), outcome(), tasks() or states(), which may be async`,
    );
  const map = new SourceMap(JSON.parse(result.sourceMapText ?? '{}'));
  return { code: result.outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'), map };
}

/** `line:column` of an await outside of functions, which a module compiled to a function cannot have. */
function topLevelAwait(text: string, path: string): string | undefined {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022);
  const find = (node: ts.Node): ts.Node | undefined => {
    if (ts.isFunctionLike(node) || ts.isClassStaticBlockDeclaration(node)) return undefined;
    if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) return node;
    return ts.forEachChild(node, find);
  };
  const found = find(source);
  if (!found) return undefined;
  const at = source.getLineAndCharacterOfPosition(found.getStart(source));
  return `${at.line + 1}:${at.character + 1}`;
}

/** `import.meta` has no place in the function that a module is compiled to; an object of the same content stands in. */
const replaceImportMeta: ts.TransformerFactory<ts.SourceFile> = (context) => {
  const visit = (node: ts.Node): ts.Node =>
    ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword
      ? context.factory.createIdentifier('__importMeta')
      : ts.visitEachChild(node, visit, context);
  return (source) => ts.visitEachChild(source, visit, context);
};
