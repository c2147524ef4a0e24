/**
 * The child process that runs one adapter. It loads the adapter once and then calls its functions as asked, one at a
 * time; the daemon checks every result and ends this process when a call takes too long.
 */
import { pathToFileURL } from 'node:url';
import type { Adapter, EpisodeOutput } from '../../protocol/adapter.ts';
import type { CompiledAdapter } from './adapter-compiler.ts';
import type { AdapterAnswer, AdapterCall, AdapterDescription } from './adapter-messages.ts';
import { readFolder } from './output-folder.ts';

let adapter: Adapter | undefined;
let place: CompiledAdapter['place'] = () => undefined;

async function load(call: Extract<AdapterCall, { method: 'load' }>): Promise<AdapterDescription> {
  const packageExports = (await import(pathToFileURL(call.adapterModule).href)) as Record<string, unknown>;
  let exports: Record<string, unknown>;
  if (call.compiler === null) {
    exports = (await import(pathToFileURL(call.file).href)) as Record<string, unknown>;
  } else {
    const compiler = (await import(pathToFileURL(call.compiler).href)) as typeof import('./adapter-compiler.ts');
    const compiled = compiler.compileAdapter(call.file, call.workspace, packageExports);
    exports = compiled.exports;
    place = compiled.place;
  }
  adapter = checkShape(exports);
  return {
    name: adapter.name,
    onUpstreamFailure: adapter.onUpstreamFailure ?? 'pass',
    hasScriptedTeacher: adapter.scriptedTeacher !== undefined,
  };
}

const FIELDS = ['name', 'tasks', 'states', 'launch', 'outcome', 'onUpstreamFailure', 'scriptedTeacher'];

function checkShape(exports: Record<string, unknown>): Adapter {
  const value = exports.default;
  if (value === undefined)
    throw new Error('it has no default export: write "export default defineAdapter({ name, launch, outcome })"');
  if (typeof value !== 'object' || value === null)
    throw new Error('its default export is not an object: write "export default defineAdapter({ ... })"');
  const given = value as Record<string, unknown>;
  const problems: string[] = [];
  if (typeof given.name !== 'string' || given.name === '') problems.push('name must be a text');
  for (const name of ['launch', 'outcome'])
    if (typeof given[name] !== 'function')
      problems.push(`${name} ${given[name] === undefined ? 'is missing' : 'must be a function'}`);
  if (given.scriptedTeacher !== undefined && typeof given.scriptedTeacher !== 'function')
    problems.push('scriptedTeacher must be a function');
  if (given.tasks !== undefined && typeof given.tasks !== 'function' && typeof given.tasks !== 'object')
    problems.push('tasks must be an object ({suite: [instruction, ...]}) or a function that returns one');
  if (given.states !== undefined && !['number', 'object', 'function'].includes(typeof given.states))
    problems.push('states must be a number, an object ({suite: number}) or a function that returns one');
  if (given.onUpstreamFailure !== undefined && !['pass', 'fail-fast'].includes(given.onUpstreamFailure as string))
    problems.push('onUpstreamFailure must be "pass" or "fail-fast"');
  for (const name of Object.keys(given))
    if (!FIELDS.includes(name)) problems.push(`"${name}" is not a field of an adapter (${FIELDS.join(', ')})`);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return value as Adapter;
}

async function answer(call: AdapterCall): Promise<unknown> {
  if (call.method === 'load') return load(call);
  if (!adapter) throw new Error('the adapter is not loaded');
  switch (call.method) {
    case 'tasks':
      return typeof adapter.tasks === 'function' ? await adapter.tasks() : (adapter.tasks ?? {});
    case 'states':
      return typeof adapter.states === 'function' ? await adapter.states() : adapter.states;
    case 'launch':
      return adapter.launch(call.request, call.context);
    case 'scriptedTeacher':
      return adapter.scriptedTeacher?.(call.context);
    case 'outcome': {
      const { outputDir, ...rest } = call.input;
      const output: EpisodeOutput = { ...rest, ...readFolder(outputDir) };
      return adapter.outcome(output);
    }
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${JSON.stringify(error) ?? String(error)}`;
  const where = place(error.stack ?? '');
  return where === undefined || error.message.includes(where) ? error.message : `${error.message} (${where})`;
}

process.on('message', async (call: AdapterCall) => {
  let reply: AdapterAnswer;
  try {
    reply = { ok: true, value: await answer(call) };
    // Here and not on the way out, so that a cyclic result is the adapter's error.
    JSON.stringify(reply);
  } catch (error) {
    reply = { ok: false, problem: explain(error) };
  }
  process.send?.(reply);
});
process.on('disconnect', () => process.exit(0));
