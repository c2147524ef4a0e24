/** Finding, loading and calling an adapter (design section 3.2). */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import {
  type EpisodeRequest,
  launchSchema,
  outcomeSchema,
  processSpecSchema,
  stateCountsSchema,
  taskListSchema,
} from '../../protocol/adapter.ts';
import { sha256 } from '../../protocol/random.ts';
import { bundlePath, packageRoot } from '../bundles.ts';
import { AdapterError } from './adapter-error.ts';
import type { AdapterDescription } from './adapter-messages.ts';
import { AdapterProcess } from './adapter-process.ts';
import type { LoadedAdapter } from './contract.ts';

export interface LoadOptions {
  /** Folder of the built shipped adapters; default the package's `dist`. */
  shippedFolder?: string;
  /** Folder whose files an adapter may import; default the nearest folder above the config that holds a project. */
  workspace?: string;
  /** Longest time of one call of the adapter. */
  timeoutSeconds?: number;
  /** Environment variables that the adapter and its harnesses do not get, besides those that look like secrets. */
  withheld?: readonly string[];
}

/**
 * Loads an adapter into a child process of its own.
 * @param reference a shipped name such as `tabletop-skills`, or the path of a .ts or .mjs file relative to the config.
 * @param configFolder absolute folder of the training config.
 * @throws AdapterError when there is no such adapter, it cannot be loaded, or it lacks fields.
 */
export async function loadAdapter(
  reference: string,
  configFolder: string,
  options: LoadOptions = {},
): Promise<LoadedAdapter> {
  const { file, shipped } = findAdapter(reference, configFolder, options.shippedFolder);
  const withheld = options.withheld ?? [];
  const process_ = new AdapterProcess(
    file,
    {
      method: 'load',
      file,
      workspace: options.workspace ?? projectFolder(configFolder, file),
      compiler: shipped ? null : bundlePath('adapter-compiler'),
      adapterModule: bundlePath('adapter'),
    },
    options.timeoutSeconds ?? 30,
    withheld,
  );
  let description: AdapterDescription;
  try {
    description = (await process_.call(process_.loadCall)) as AdapterDescription;
  } catch (error) {
    await process_.close();
    throw error;
  }
  const context = { node: process.execPath, adapterDir: dirname(file), workspace: configFolder };
  const check = <T extends z.ZodType>(schema: T, value: unknown, where: string): z.output<T> => {
    const checked = schema.safeParse(value);
    if (checked.success) return checked.data;
    throw new AdapterError(file, where, resultProblem(value, checked.error));
  };
  return {
    ...description,
    file,
    sha256: sha256(readFileSync(file)),
    workspace: configFolder,
    withheld,
    async tasks() {
      return check(taskListSchema, await process_.call({ method: 'tasks' }), 'tasks');
    },
    async states() {
      return check(stateCountsSchema, await process_.call({ method: 'states' }), 'states');
    },
    async launch(request: EpisodeRequest) {
      const value = await process_.call({ method: 'launch', request, context });
      // Which of the two forms was meant decides which error helps.
      const isWorker = typeof value === 'object' && value !== null && 'worker' in value;
      return check(isWorker ? launchSchema.options[1] : launchSchema.options[0], value, 'launch()');
    },
    async outcome(input) {
      return check(outcomeSchema, await process_.call({ method: 'outcome', input }), 'outcome()');
    },
    async scriptedTeacher() {
      if (!description.hasScriptedTeacher)
        throw new AdapterError(file, '', 'it ships no scripted teacher: set teacher.upstream to a served model');
      const value = await process_.call({ method: 'scriptedTeacher', context });
      return check(processSpecSchema, value, 'scriptedTeacher()');
    },
    close: () => process_.close(),
  };
}

function findAdapter(
  reference: string,
  configFolder: string,
  shippedFolder?: string,
): { file: string; shipped: boolean } {
  const isPath = /[/\\]|\.(ts|mts|mjs|js)$/.test(reference);
  if (!isPath) {
    const file = shippedFolder
      ? join(shippedFolder, `${reference}.adapter.mjs`)
      : join(packageRoot(), 'dist', `${reference}.adapter.mjs`);
    if (existsSync(file)) return { file, shipped: true };
    throw new AdapterError(
      `"${reference}"`,
      '',
      'no adapter of this name is shipped: write a shipped name or the path of an adapter file, for example ./my-harness.adapter.ts (harness.adapter)',
    );
  }
  const file = resolve(configFolder, reference);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new AdapterError(file, '', `there is no such file (harness.adapter, relative to ${configFolder})`);
  if (!/\.(ts|mts|mjs|js)$/.test(file)) throw new AdapterError(file, '', 'an adapter is a .ts or .mjs file');
  return { file, shipped: false };
}

/** The nearest folder above the config that looks like a project and holds the adapter; else the config's own. */
function projectFolder(configFolder: string, file: string): string {
  for (let folder = configFolder; ; folder = dirname(folder)) {
    if (['.git', '.agentic-robo-rl', 'package.json'].some((name) => existsSync(join(folder, name)))) return folder;
    if (dirname(folder) === folder) return file.startsWith(configFolder) ? configFolder : dirname(file);
  }
}

function resultProblem(value: unknown, error: z.ZodError): string {
  if (value === undefined || value === null) return 'returned nothing';
  return error.issues.map((issue) => `${issue.path.join('.') || 'the result'}: ${issue.message}`).join('; ');
}
