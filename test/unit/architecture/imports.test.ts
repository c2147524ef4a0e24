/** Holds the allowed imports of ARCHITECTURE.md ("The house"). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const rooms = ['protocol', 'recordings', 'trainer-daemon', 'language-server', 'extension', 'cli'];

function sources(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file));
  } catch {
    return [];
  }
}

/** Place of a file: the room, and inside the daemon `daemon/<stage>`. */
function place(file: string): string {
  const parts = relative(root, file).split(sep);
  if (parts[0] !== 'trainer-daemon')
    return parts[0] === 'language-server' && parts[1] === 'service' ? 'language-server/service' : parts[0];
  return parts.length > 2 ? `daemon/${parts[1]}` : 'daemon';
}

const stages = ['rollouts', 'samples', 'sft', 'trainers', 'evaluation'].map((s) => `daemon/${s}`);
const ground = ['proxy', 'planner', 'store'].map((s) => `daemon/${s}`);

function allowed(from: string, to: string): boolean {
  if (from === to || to === 'protocol') return true;
  if (from === 'protocol') return false;
  if (from === 'recordings') return false;
  if (from === 'daemon/tabletop') return false;
  if (from === 'daemon/harnesses') return to === 'daemon/tabletop';
  if (to === 'recordings') return ['extension', 'cli'].includes(from) || from.startsWith('daemon');
  if (from === 'cli') return to.startsWith('daemon') || to === 'language-server/service';
  if (!from.startsWith('daemon')) return from.startsWith('language-server') && to.startsWith('language-server');
  if (!to.startsWith('daemon')) return false;
  if (to === 'daemon') return true; // trainer-daemon/bundles.ts
  if (from === 'daemon/api') return to === 'daemon/training' || ground.includes(to);
  if (from === 'daemon/training') return stages.includes(to) || ground.includes(to);
  if (stages.includes(from)) return ground.includes(to);
  if (from === 'daemon/proxy') return to === 'daemon/store';
  return false;
}

describe('imports between rooms', () => {
  const files = rooms.flatMap((room) => sources(join(root, room)));

  it('finds the sources', () => {
    expect(files.length).toBeGreaterThan(10);
  });

  it('only go where the house allows', () => {
    const broken: string[] = [];
    for (const file of files) {
      for (const match of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
        const target = resolve(dirname(file), match[1]);
        if (!allowed(place(file), place(target))) broken.push(`${relative(root, file)} -> ${relative(root, target)}`);
      }
    }
    expect(broken).toEqual([]);
  });
});
