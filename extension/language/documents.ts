/** Which documents are ours. */

/** `*.adapter.ts` and the like. */
export function isAdapterName(path: string): boolean {
  return /\.adapter\.[cm]?[jt]s$/i.test(path);
}

/** `*.training.yaml`, `*.training.json`. */
export function isConfigName(path: string): boolean {
  return /\.training\.(?:ya?ml|json)$/i.test(path);
}

/** Whether an adapter's text names our package: many a project has adapters of another kind. */
export function speaksOfUs(text: string): boolean {
  return text.includes('agentic-robo-rl') || text.includes('defineAdapter');
}
