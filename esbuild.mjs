// Bundles every program of the package into dist/. Each entry is one process or worker of its own.

import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { build, transform } from 'esbuild';
import { adapterTypes } from './scripts/adapter-types.mjs';

const programs = {
  cli: 'cli/main.ts',
  adapter: 'protocol/adapter.ts',
  'adapter-host': 'trainer-daemon/rollouts/adapter-host.ts',
  'adapter-compiler': 'trainer-daemon/rollouts/adapter-compiler.ts',
  'planner-worker': 'trainer-daemon/planner/serving/worker.ts',
  'checkpoint-inspection': 'trainer-daemon/planner/inspection-process.ts',
  'prompt-rendering': 'trainer-daemon/planner/prompt-rendering-process.ts',
  'template-trial': 'trainer-daemon/planner/template-trial-process.ts',
  'trainer-worker': 'trainer-daemon/trainers/onnx/worker.ts',
  'tabletop-skills': 'trainer-daemon/harnesses/tabletop-skills/main.ts',
  'tabletop-skills.teacher': 'trainer-daemon/harnesses/tabletop-skills/teacher/main.ts',
  'tabletop-skills.adapter': 'trainer-daemon/harnesses/tabletop-skills/adapter.ts',
  'tabletop-skills-blank.adapter': 'trainer-daemon/harnesses/tabletop-skills/blank-adapter.ts',
  'tabletop-skills-unsteady.adapter': 'trainer-daemon/harnesses/tabletop-skills/unsteady-adapter.ts',
  'tabletop-skills-unsteady-blank.adapter': 'trainer-daemon/harnesses/tabletop-skills/unsteady-blank-adapter.ts',
  daemon: 'trainer-daemon/api/main.ts',
  'language-server': 'language-server/server.ts',
  'replay-adapter': 'extension/replay/debug/main.ts',
  'result-json.adapter': 'trainer-daemon/harnesses/result-json/adapter.ts',
};

/** Pages that the editor shows: a script and a style sheet each, for a browser. */
const pages = {
  'run-page': ['media/run-page/main.ts', 'media/run-page/page.css'],
  stage: ['media/stage/main.ts', 'media/stage/stage.css'],
};

/** The editor loads this one itself, and knows the module `vscode`. */
const EXTENSION = 'extension/main.ts';

/** Names stay, so that the stack in a log can be read without the maps, which are not packaged. */
const smaller = { minifyWhitespace: true, minifySyntax: true };

/** The compiler is by far the largest package: its names are shortened as well. */
const smallCompiler = {
  name: 'small-compiler',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]typescript6?[\\/]lib[\\/]typescript\.js$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { minify: true, legalComments: 'inline' });
      return { contents: code };
    }),
};

/** Whoever imports zod gets its messages in fifty languages; ours are shown in English. */
const oneLanguage = {
  name: 'one-language',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    })),
};

const only = process.argv.slice(2);
const chosen = Object.entries(programs).filter(
  ([name, file]) => existsSync(file) && (only.length === 0 || only.includes(name)),
);
if (only.length === 0) await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: chosen.map(([out, input]) => ({ out, in: input })),
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Code that only some commands need (native modules, the daemon) lies in chunks of its own and is loaded when needed.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  ...smaller,
  sourcemap: 'linked',
  mainFields: ['module', 'main'],
  // Native or wasm packages are found in node_modules at run time; bundling them would lose their side files.
  external: ['onnxruntime-node', '@mujoco/mujoco'],
  // Bundled CommonJS packages still call require for Node's own modules and ask for the file's name.
  plugins: [smallCompiler, oneLanguage],
  define: { __filename: '__bundleFile', __dirname: '__bundleFolder' },
  banner: {
    js: [
      "import { createRequire as __createRequire } from 'node:module';",
      "import { dirname as __dirnameOf } from 'node:path';",
      "import { fileURLToPath as __fileOf } from 'node:url';",
      'const require = __createRequire(import.meta.url), __bundleFile = __fileOf(import.meta.url), __bundleFolder = __dirnameOf(__bundleFile);',
    ].join(' '),
  },
  logLevel: 'warning',
});

await build({
  entryPoints: Object.entries(pages)
    .filter(([name]) => only.length === 0 || only.includes(name))
    .flatMap(([out, files]) => files.map((file) => ({ out, in: file }))),
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'browser',
  // Chromium of the oldest VS Code that we run in.
  target: 'chrome128',
  format: 'esm',
  minify: true,
  sourcemap: 'linked',
  plugins: [oneLanguage],
  logLevel: 'warning',
});

if (existsSync(EXTENSION) && (only.length === 0 || only.includes('extension')))
  await build({
    entryPoints: { extension: EXTENSION },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    ...smaller,
    sourcemap: 'linked',
    mainFields: ['module', 'main'],
    external: ['vscode'],
    plugins: [oneLanguage],
    logLevel: 'warning',
  });

if (only.length === 0) await writeFile('dist/adapter.d.ts', adapterTypes('protocol/adapter.ts'));

// What the shipped adapters list, for those who check configs and run no adapter.
const listings = {};
for (const [name] of chosen) {
  if (!name.endsWith('.adapter')) continue;
  const { default: adapter } = await import(pathToFileURL(`dist/${name}.mjs`).href);
  const told = async (value) => (typeof value === 'function' ? await value() : value);
  const tasks = (await told(adapter.tasks)) ?? {};
  const states = await told(adapter.states);
  listings[name.slice(0, -'.adapter'.length)] = { adapter: adapter.name, tasks, states };
}
if (Object.keys(listings).length > 0) await writeFile('dist/shipped-adapters.json', `${JSON.stringify(listings)}\n`);
