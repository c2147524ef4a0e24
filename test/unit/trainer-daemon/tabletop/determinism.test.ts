import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';
import { playFixedEpisode } from './state-program.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabletop-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The same program in a process of its own. */
async function playInProcess(): Promise<Record<string, string>> {
  const program = join(folder, 'program.mjs');
  await build({
    stdin: {
      contents: `import { playFixedEpisode } from './state-program.ts'; console.log(JSON.stringify(await playFixedEpisode()));`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: program,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'engine-in-place',
        setup: ({ onResolve, resolve }) =>
          onResolve({ filter: /^@mujoco\/mujoco$/ }, async ({ path, pluginData, resolveDir, kind }) => {
            if (pluginData === 'resolving') return undefined;
            const found = await resolve(path, { resolveDir, kind, pluginData: 'resolving' });
            return { path: found.path, external: true };
          }),
      },
    ],
  });
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  return JSON.parse(stdout) as Record<string, string>;
}

describe('equal starts and calls', () => {
  it('give bit-identical worlds, perception, pictures and records, in every process', async () => {
    const here = await playFixedEpisode();
    expect(new Set(Object.values(here)).size).toBe(Object.keys(here).length);
    expect(await playInProcess()).toEqual(here);
    // A simulation that was used before is as good as a new one.
    expect(await playFixedEpisode()).toEqual(here);
  });

  it('whatever the noise, begin alike; other initial states do not', async () => {
    const hashes = [];
    for (const [init, noiseSeed] of [
      [3, 'a'],
      [3, 'b'],
      [4, 'a'],
    ] as const) {
      const episode = await TabletopEpisode.start({ suite: 'tabletop_object', task: 2, init, noiseSeed });
      hashes.push(episode.simulation.stateHash());
      episode.dispose();
    }
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it('are not disturbed by other episodes in between', async () => {
    const alone = await playFixedEpisode();
    const other = await TabletopEpisode.start({ suite: 'tabletop_long', task: 4, init: 1, noiseSeed: 'other' });
    other.moveTo([0.5, 0.1, 0.1]);
    expect(await playFixedEpisode()).toEqual(alone);
    other.dispose();
  });
});

describe('an episode', () => {
  const start = { suite: 'tabletop_goal', task: 0, init: 0, noiseSeed: 'life' };

  it('fails loudly where the physics fails, and the next one is sound again', async () => {
    const first = await TabletopEpisode.start(start);
    const sound = first.simulation.stateHash();
    first.simulation.views.qvel[0] = Number.NaN;
    expect(() => first.moveTo([0.5, 0.1, 0.3])).toThrow(/physics failed in scene "kitchen"/);
    first.dispose();
    const second = await TabletopEpisode.start(start);
    expect(second.simulation.stateHash()).toBe(sound);
    second.dispose();
  });

  it('cannot be used after it was disposed of, but its trajectory can be read', async () => {
    const episode = await TabletopEpisode.start(start);
    episode.dispose();
    episode.dispose();
    expect(() => episode.detect()).toThrow(/disposed of/);
    expect(episode.trajectory().frames).toBe(1);
  });

  it('leaves no engine memory behind', async () => {
    const run = async (init: number): Promise<number> => {
      const episode = await TabletopEpisode.start({ ...start, init });
      episode.openDrawer(episode.detect('drawer').detections[0]);
      const bytes = episode.simulation.views.qpos.buffer.byteLength;
      episode.dispose();
      return bytes;
    };
    const before = await run(0);
    for (let i = 1; i < 30; i++) await run(i);
    expect(await run(30)).toBe(before);
  });
});
