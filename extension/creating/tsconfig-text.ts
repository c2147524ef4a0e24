/** The tsconfig that lets adapters of a workspace find their types. */

/** @param types path of the declaration file relative to the tsconfig. */
export function tsconfig(types: string): string {
  const compilerOptions = {
    target: 'es2023',
    module: 'preserve',
    strict: true,
    noEmit: true,
    allowJs: true,
    paths: pathsEntry(types),
  };
  return `${JSON.stringify({ compilerOptions, include: ['.'] }, null, 2)}\n`;
}

/** For `compilerOptions.paths`. */
export function pathsEntry(types: string): Record<string, string[]> {
  return { 'agentic-robo-rl': [types.startsWith('.') ? types : `./${types}`] };
}
