/** Everything that `validate` finds about one file, a config or an adapter. */
import { adapterFileFindings, isAdapterFile } from './adapter-file.ts';
import { type ConfigFile, readConfigFile, shippedListing } from './config-file.ts';
import { checkpointFindings, harnessFindings } from './config-references.ts';

export type Examined = Pick<ConfigFile, 'file' | 'readable' | 'findings'>;

/**
 * All findings about an adapter's text, or about a config: its text first, and what it refers to where the text is sound.
 * @param runAdapter whether a config's own adapter is run, in a process of its own, to hold the config against its lists.
 */
export async function examine(name: string, runAdapter: boolean): Promise<Examined> {
  if (isAdapterFile(name)) return { file: name, ...(await adapterFileFindings(name)) };
  const file = readConfigFile(name);
  const findings = [...file.findings, ...(await checkpointFindings(file))];
  // What a shipped adapter lists is known without running it, and held against the config already.
  const shipped = file.config && shippedListing(file.config.harness.adapter);
  if (runAdapter && !shipped) findings.push(...(await harnessFindings(file)));
  return { ...file, findings: findings.sort((a, b) => a.line - b.line || a.column - b.column) };
}
