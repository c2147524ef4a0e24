/** What `doctor` looks at, and what it advises. */
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, freemem, platform, release, totalmem } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from '../../trainer-daemon/bundles.ts';
import { shippedAdapters } from '../config-file.ts';
import { bytes, plural } from '../output/format.ts';
import { type ProbeResult, probe } from './probes.ts';

export interface Check {
  name: string;
  /** `missing` concerns something optional. */
  state: 'ok' | 'warning' | 'missing' | 'error';
  detail: string;
  advice?: string;
}

const LEAST_NODE = [20, 19, 0];
const LITTLE_MEMORY = 4e9;
const LITTLE_DISK = 5e9;

/** All checks, in the order they are printed. */
export async function runChecks(folder: string): Promise<Check[]> {
  // One after the other: each may take the whole machine for a moment.
  const cpu = await probe('cpu');
  const cuda = await probe('cuda');
  const webgpu = await probe('webgpu');
  const physics = await probe('physics');
  return [
    node(),
    machine(),
    memory(),
    disk(folder),
    build(),
    { name: 'ONNX Runtime, cpu', ...verdict(cpu, 'error', reinstall('onnxruntime-node')) },
    { name: 'ONNX Runtime, cuda', ...verdict(cuda, 'missing', cudaAdvice()) },
    { name: 'ONNX Runtime, webgpu', ...verdict(webgpu, 'missing', webgpuAdvice()) },
    { name: 'physics engine', ...verdict(physics, 'error', reinstall('@mujoco/mujoco')) },
    {
      name: 'embedded planner',
      state: 'ok',
      detail: 'reads text only: images are recorded in full and shown to it as a placeholder',
    },
    { name: 'Python', state: 'ok', detail: 'not needed; harnesses of your own may need it' },
  ];
}

function verdict(result: ProbeResult, otherwise: Check['state'], advice: string): Omit<Check, 'name'> {
  return result.ok ? { state: 'ok', detail: result.detail } : { state: otherwise, detail: result.detail, advice };
}

function reinstall(name: string): string {
  return `install the package again for this platform: npm install ${name} (in ${packageRoot()})`;
}

function node(): Check {
  const parts = process.versions.node.split('.').map(Number);
  const difference = LEAST_NODE.map((least, i) => parts[i] - least).find((each) => each !== 0) ?? 0;
  const wanted = LEAST_NODE.join('.');
  return difference >= 0
    ? { name: 'Node.js', state: 'ok', detail: process.versions.node }
    : { name: 'Node.js', state: 'error', detail: process.versions.node, advice: `update to ${wanted} or newer` };
}

function machine(): Check {
  return {
    name: 'machine',
    state: 'ok',
    detail: `${platform()} ${arch()} ${release()}, ${plural(availableParallelism(), 'core')} to use`,
  };
}

function memory(): Check {
  const total = Math.min(totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY);
  const detail = `${bytes(total)} in all, ${bytes(Math.min(total, freemem()))} free`;
  return total >= LITTLE_MEMORY
    ? { name: 'memory', state: 'ok', detail }
    : {
        name: 'memory',
        state: 'warning',
        detail,
        advice: 'lower harness.concurrency and the planner size in the config',
      };
}

function disk(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${bytes(free)} free in ${folder}`;
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return {
      name: 'disk',
      state: 'warning',
      detail: `${folder} cannot be written`,
      advice: 'runs are written to runs/ in the current folder: change to another',
    };
  }
  return free >= LITTLE_DISK
    ? { name: 'disk', state: 'ok', detail }
    : { name: 'disk', state: 'warning', detail, advice: '"train CONFIG --dry-run" tells what a run needs' };
}

function build(): Check {
  const adapters = shippedAdapters();
  const programs = ['adapter-host', 'planner-worker', 'trainer-worker'];
  const missing = programs.filter((name) => !existsSync(join(packageRoot(), 'dist', `${name}.mjs`)));
  return missing.length === 0
    ? { name: 'installation', state: 'ok', detail: `${packageRoot()}; adapters ${adapters.join(', ')}` }
    : {
        name: 'installation',
        state: 'error',
        detail: `dist/ lacks ${missing.join(', ')}`,
        advice: `run "npm run build" in ${packageRoot()}`,
      };
}

/** How to get the CUDA libraries, which are not part of the installation because of their size. */
function cudaAdvice(): string {
  if (platform() !== 'linux' || arch() !== 'x64')
    return 'CUDA needs Linux on x64; trainer.device cpu or webgpu work here';
  if (!onPath('nvidia-smi') && !existsSync('/proc/driver/nvidia/version'))
    return 'no NVIDIA driver was found; without a GPU nothing is missing: training runs on the cpu';
  const libraries = join(runtimeFolder(), 'bin', 'napi-v6', 'linux', 'x64', 'libonnxruntime_providers_cuda.so');
  if (!existsSync(libraries))
    return `fetch ONNX Runtime's CUDA libraries (about 400 MB): node ${join(runtimeFolder(), 'script', 'install')} --onnxruntime-node-install=cuda12; CUDA 12 and cuDNN 9 must be on the library path`;
  return 'the libraries are there: put CUDA 12 and cuDNN 9 on the library path (LD_LIBRARY_PATH) and look at the reason above';
}

function webgpuAdvice(): string {
  if (platform() !== 'linux') return 'update the graphics driver';
  const loader = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib', '/lib'].some(
    (folder) => existsSync(join(folder, 'libvulkan.so.1')),
  );
  if (!loader)
    return "install the Vulkan loader and a driver: Debian's libvulkan1 and mesa-vulkan-drivers (which has a slow software one)";
  return "install a Vulkan driver, for example Debian's mesa-vulkan-drivers, or name one in VK_DRIVER_FILES";
}

function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)));
}

/** Folder of the onnxruntime-node package. */
function runtimeFolder(): string {
  try {
    let folder = dirname(createRequire(join(packageRoot(), 'package.json')).resolve('onnxruntime-node'));
    while (!isRuntime(folder) && dirname(folder) !== folder) folder = dirname(folder);
    return folder;
  } catch {
    return join(packageRoot(), 'node_modules', 'onnxruntime-node');
  }
}

function isRuntime(folder: string): boolean {
  const file = join(folder, 'package.json');
  return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'onnxruntime-node';
}
