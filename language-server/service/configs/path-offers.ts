/** Files and folders that a path of a config may lead to, as far as it is typed. */
import type { Surroundings } from '../config-references.ts';
import type { Completion } from './shapes.ts';

type Offer = Pick<Completion, 'label' | 'kind' | 'detail'>;

/** More than anybody chooses from. */
const MOST = 200;

/** Folders under the one that is typed; those that are a checkpoint say so. */
export function checkpointOffers(typed: string, around: Surroundings | undefined): Offer[] {
  return under(typed, around, (label, kind) =>
    kind === 'folder'
      ? {
          label,
          kind: 'folder',
          detail: around?.kind(`${label}/config.json`) === 'file' ? 'checkpoint' : undefined,
        }
      : undefined,
  );
}

/** Adapters, and folders on the way to one. */
export function adapterOffers(typed: string, around: Surroundings | undefined): Offer[] {
  return under(typed, around, (label, kind) => {
    if (kind === 'folder') return { label, kind: 'folder' };
    return /\.adapter\.(?:m?ts|m?js)$/.test(label) ? { label, kind: 'file', detail: 'adapter' } : undefined;
  });
}

function under(
  typed: string,
  around: Surroundings | undefined,
  offer: (path: string, kind: 'file' | 'folder') => Offer | undefined,
): Offer[] {
  const folder = typed.includes('/') ? typed.slice(0, typed.lastIndexOf('/') + 1) : './';
  return (around?.list?.(folder) ?? [])
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .flatMap(({ name, kind }) => offer(folder + name, kind) ?? [])
    .slice(0, MOST);
}
