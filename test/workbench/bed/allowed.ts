/** What a packaged extension consists of. */

/** Everything that may be in the VSIX of a platform; each of them has to be there. */
export function allowedIn(platform: string, arch: string): RegExp[] {
  return [
    /^\[Content_Types\]\.xml$/,
    /^extension\.vsixmanifest$/,
    /^extension\/(?:readme\.md|changelog\.md|LICENSE\.txt|ThirdPartyNotices\.txt|package\.json|package\.nls\.json)$/,
    /^extension\/l10n\/bundle\.l10n\.json$/,
    /^extension\/media\/[\w./-]+\.(?:png|svg|json|md|ts|yaml)$/,
    /^extension\/docs\/(?:findings\/)?[a-z0-9-]+\.md$/,
    /^extension\/examples\/(?:adapters\/)?[\w.-]+\.(?:ts|mjs|yaml)$/,
    /^extension\/examples\/sample-run\/[\w./-]+\.(?:md|jsonl?|png|jinja)$/,
    /^extension\/dist\/(?:chunks\/)?[\w.-]+\.mjs$/,
    /^extension\/dist\/(?:extension\.cjs|(?:run-page|stage)\.css|adapter\.d\.ts|shipped-adapters\.json)$/,
    /^extension\/node_modules\/onnxruntime-node\/(?:package\.json|dist\/[\w-]+\.js)$/,
    new RegExp(`^extension/node_modules/onnxruntime-node/bin/napi-v6/${platform}/${arch}/[\\w.]+$`),
    /^extension\/node_modules\/onnxruntime-common\/(?:package\.json|dist\/cjs\/[\w-]+\.js|dist\/cjs\/package\.json)$/,
    /^extension\/node_modules\/@mujoco\/mujoco\/(?:package\.json|mujoco\.js|mujoco\.wasm)$/,
  ];
}
