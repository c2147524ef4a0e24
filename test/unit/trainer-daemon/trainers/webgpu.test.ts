/**
 * The WebGPU path against PyTorch's golden values, on a software Vulkan (SwiftShader, shipped with Debian's chromium;
 * needs libvulkan1 too). In a process of its own: the Vulkan loader reads its variables when the process starts, and a
 * driver's crash must not take the other tests along.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../trainer-daemon/bundles.ts';

const driver = '/usr/lib/chromium/vk_swiftshader_icd.json';
/** Some seconds on an idle machine. */
const LIMIT = 600_000;
const program = join(packageRoot(), 'dist', `webgpu-check-${process.pid}.mjs`);

function missing(): string | undefined {
  if (process.platform !== 'linux') return 'no Linux';
  if (!existsSync(driver)) return `no ${driver} (apt-get install chromium)`;
  const libraries = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' });
  return libraries.includes('libvulkan.so.1') ? undefined : 'no libvulkan.so.1 (apt-get install libvulkan1)';
}

const reason = missing();
if (reason !== undefined) console.log(`WebGPU test skipped: ${reason}`);

afterAll(() => rm(program, { force: true }));

describe.skipIf(reason !== undefined)('WebGPU on a software Vulkan', () => {
  it('gives the losses, log-probs and gradients of PyTorch', { timeout: 2 * LIMIT }, async (test) => {
    await build({
      entryPoints: [join(packageRoot(), 'test/unit/trainer-daemon/trainers/webgpu-check.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['onnxruntime-node'],
      banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    });
    const { stdout, stderr, status, error } = spawnSync(process.execPath, [program], {
      encoding: 'utf8',
      env: { ...process.env, VK_ICD_FILENAMES: driver, VK_DRIVER_FILES: driver },
      timeout: LIMIT,
    });
    // It computes on the processor; where that has no time left, nothing is known about WebGPU.
    test.skip((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT', `no result within ${LIMIT / 1000} s`);
    expect(status, stderr).toBe(0);
    const result = JSON.parse(stdout.trim().split('\n').pop()!) as Record<string, number | string>;
    expect(result['device']).toBe('webgpu');
    expect(result['sftLoss']).toBeLessThan(1e-5);
    expect(result['sftGradients']).toBeLessThan(1e-4);
    expect(result['rlLoss']).toBeLessThan(1e-5);
    expect(result['rlGradients']).toBeLessThan(1e-4);
    expect(result['logprobs']).toBeLessThan(1e-4);
  });
});
