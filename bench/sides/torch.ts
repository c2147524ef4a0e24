/** PyTorch as the peer: Debian's packages, installed here when this is root and apt works; otherwise left out. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../trainer-daemon/bundles.ts';
import { Side } from './side.ts';

// Debian's PyTorch takes whatever BLAS the system has; with the reference one it is twenty times slower.
const PACKAGES = ['python3-torch', 'python3-numpy', 'libopenblas0-pthread'];
const PYTHON = '/usr/bin/python3';

export type Peer = { start(threads: number): Side; words: string } | { skipped: string };

let known: Peer | undefined;

/** Finds or installs PyTorch with OpenBLAS; `skipped` says why there is none. */
export function torchPeer(): Peer {
  known ??= find();
  return known;
}

function find(): Peer {
  let found = look();
  if (typeof found !== 'string' && process.getuid?.() === 0) {
    console.error(`bench: installing ${PACKAGES.join(', ')} for the comparison`);
    const quiet = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 300_000 };
    spawnSync('apt-get', ['-qq', 'update'], quiet);
    spawnSync('apt-get', ['-qq', '-y', '--no-install-recommends', 'install', ...PACKAGES], quiet);
    found = look();
  }
  if (typeof found !== 'string') {
    return {
      skipped: `PyTorch left out: ${found.problem}; it needs ${PYTHON} with the packages ${PACKAGES.join(', ')}`,
    };
  }
  const file = join(packageRoot(), 'bench/sides/torch_side.py');
  return {
    words: found,
    start: (threads) => new Side(PYTHON, [file], { OMP_NUM_THREADS: `${threads}`, OPENBLAS_NUM_THREADS: `${threads}` }),
  };
}

/** The version in words, or what is missing. */
function look(): string | { problem: string } {
  const program = [
    'import torch, numpy',
    'a = torch.randn(64, 64); (a @ a)',
    'maps = open("/proc/self/maps").read()',
    'print(torch.__version__, "openblas" if "openblas" in maps else "mkl" if "mkl" in maps else "other")',
  ].join('\n');
  try {
    const said = execFileSync(PYTHON, ['-c', program], { timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
    const [version, blas] = said.toString().trim().split(' ');
    if (blas === 'other') return { problem: 'its matrix products are not OpenBLAS (nor MKL)' };
    return `PyTorch ${version} with ${blas === 'mkl' ? 'MKL' : 'OpenBLAS'}`;
  } catch {
    return { problem: 'it is not installed' };
  }
}
