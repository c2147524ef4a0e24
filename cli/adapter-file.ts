/** Findings about an adapter's text, as an editor shows them; nothing of it is run. */
import { toFileFinding } from '../language-server/service/contract.ts';
import type { Finding } from '../protocol/finding.ts';
import { readTextFile } from './config-file.ts';

/** Whether a name is that of an adapter and not of a config. */
export function isAdapterFile(file: string): boolean {
  return /\.[cm]?[jt]s$/i.test(file);
}

/** `readable` is false when there was no text to look at. */
export async function adapterFileFindings(file: string): Promise<{ readable: boolean; findings: Finding[] }> {
  const read = readTextFile(file);
  if ('problem' in read) return { readable: false, findings: [read.problem] };
  // The TypeScript parser takes a moment to load; who checks configs does not wait for it.
  const { adapterFindings } = await import('../language-server/service/adapters/index.ts');
  const found = adapterFindings(read.text, { fileName: file, syntaxErrors: true });
  return { readable: true, findings: found.map((finding) => toFileFinding(finding, file)) };
}
