// What goes into the VSIX of a platform: an allow-list, so that nothing gets in by accident.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Platforms onnxruntime-node has binaries for, as VS Code names them, with the binaries' folder. */
export const TARGETS = {
  'linux-x64': 'linux/x64',
  'linux-arm64': 'linux/arm64',
  'darwin-arm64': 'darwin/arm64',
  'win32-x64': 'win32/x64',
  'win32-arm64': 'win32/arm64',
};

/** Files and folders of the repository, with what is taken of a folder. */
const OURS = [
  ['README.md'],
  ['CHANGELOG.md'],
  ['LICENSE'],
  ['package.nls.json'],
  ['dist', /^(?:chunks\/)?[\w.-]+\.(?:mjs|cjs|css|json|d\.ts)$/],
  ['docs', /\.md$/],
  ['examples', /^(?:adapters\/)?[\w.-]+\.(?:ts|mjs|yaml)$/],
  ['examples/sample-run', /^[\w./-]+\.(?:md|jsonl?|png|jinja)$/],
  ['l10n', /^bundle\.l10n(?:\.[\w-]+)?\.json$/],
  // The sources of pages are in dist/, bundled.
  ['media', /^(?!(?:run-page|stage)\/).*\.(?:png|svg|json|md|ts|yaml)$/],
];

/** Packages that are not bundled, because they have files beside their code. `{platform}`: of this platform only. */
const NATIVE = [
  ['onnxruntime-node', ['package.json', 'dist/*.js', 'bin/napi-v6/{platform}/*']],
  // Without the package.json in its folder the CommonJS build would be taken for a module.
  ['onnxruntime-common', ['package.json', 'dist/cjs/*.js', 'dist/cjs/package.json']],
  ['@mujoco/mujoco', ['package.json', 'mujoco.js', 'mujoco.wasm']],
];

/** A second copy of the library that the binding does not ask for. */
const SPARE = /^libonnxruntime\.\d+\.\d+\.\d+\.dylib$/;

/** Keys of package.json that an editor has no use for. */
const NOT_IN_THE_EDITOR = ['scripts', 'devDependencies', 'files', 'bin', 'exports'];

/**
 * Lays the files of a platform's VSIX into an empty folder.
 * @throws Error when something that belongs there is missing: the package was not built, or not installed.
 */
export function stage(root, folder, target) {
  const put = (from, to) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(from, join(folder, to));
  };
  for (const [name, pattern] of OURS) {
    if (!existsSync(join(root, name))) throw new Error(`${name} is missing: run "npm run build" first`);
    if (!pattern) put(join(root, name), name);
    else for (const file of filesIn(join(root, name), pattern)) put(join(root, name, file), `${name}/${file}`);
  }
  for (const [name, patterns] of NATIVE)
    for (const pattern of patterns) {
      const source = join(root, 'node_modules', name);
      const path = pattern.replace('{platform}', TARGETS[target]);
      const files = path.includes('*') ? matching(source, path) : [path];
      if (files.length === 0) throw new Error(`${name} has no ${path}: run "npm ci"`);
      for (const file of files) put(join(source, file), `node_modules/${name}/${file}`);
    }
  // The editor shows no pictures of a package; without their lines nothing looks broken.
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  writeFileSync(join(folder, 'README.md'), readme.replaceAll(/^!\[[^\]]*\]\(docs\/images\/[^)]*\)\n\n?/gm, ''));
  const manifest = readManifest(join(root, 'package.json'));
  for (const key of NOT_IN_THE_EDITOR) delete manifest[key];
  manifest.dependencies = pick(manifest.dependencies, ['onnxruntime-node', '@mujoco/mujoco']);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // What its installer needs is not there, and neither is its installer.
  const runtime = join(folder, 'node_modules', 'onnxruntime-node', 'package.json');
  const trimmed = readManifest(runtime);
  delete trimmed.scripts;
  delete trimmed.devDependencies;
  trimmed.dependencies = pick(trimmed.dependencies, ['onnxruntime-common']);
  writeFileSync(runtime, `${JSON.stringify(trimmed, null, 2)}\n`);
}

/** Removes a folder made by {@link stage}. */
export function unstage(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function filesIn(folder, pattern) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((file) => pattern.test(file));
}

/** Files of one folder, `dist/*.js`. */
function matching(root, path) {
  const folder = dirname(path);
  const ending = path.slice(path.lastIndexOf('*') + 1);
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending) && !SPARE.test(name))
    .map((name) => `${folder}/${name}`);
}

function readManifest(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function pick(object, keys) {
  return Object.fromEntries(keys.map((key) => [key, object[key]]));
}
