// Makes programs of TypeScript sources that run inside the package, so that packages left out of them are found.
import { build } from 'esbuild';

/** @param out folder, below dist/. @param entryPoints esbuild's: `{ in, out }`. */
export const bundle = (out, entryPoints) =>
  build({
    entryPoints,
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['onnxruntime-node', '@mujoco/mujoco', 'esbuild', 'playwright-core'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
