/** Seeded damage to requests and replies. */
import type { Random } from '../../protocol/random.ts';

const ODD = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  -1e-320,
  '',
  'x',
  '\ud83d',
  [],
  {},
  [null],
  { a: [1, { b: 2 }] },
  '__proto__',
  NaN,
];
export function mutations(random: Random) {
  /** Replaces, removes or doubles a few random places of a JSON value. */
  function mutate<T>(value: T, times: number): T {
    const copy = JSON.parse(JSON.stringify(value));
    for (let i = 0; i < times; i++) {
      const places: [Record<string, unknown>, string][] = [];
      const walk = (node: unknown) => {
        if (typeof node !== 'object' || node === null) return;
        for (const key of Object.keys(node)) {
          places.push([node as Record<string, unknown>, key]);
          walk((node as Record<string, unknown>)[key]);
        }
      };
      walk(copy);
      if (places.length === 0) break;
      const [parent, key] = random.pick(places);
      const kind = random.int(4);
      if (kind === 0) delete parent[key];
      else if (kind === 1 && Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
      else if (kind === 2) {
        if (Array.isArray(parent)) continue;
        const name = random.pick(['index', 'role', 'content', 'n', '__proto__', 'constructor']);
        Object.defineProperty(parent, name, {
          value: structuredClone(parent[key]),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } else parent[key] = structuredClone(random.pick(ODD));
    }
    return copy;
  }

  /** Cuts, doubles or spoils a text at a random place. */
  function spoil(text: string): string {
    const at = random.int(text.length + 1);
    const kind = random.int(3);
    if (kind === 0) return text.slice(0, at);
    if (kind === 1) return text.slice(0, at) + text.slice(Math.max(0, at - 20));
    return text.slice(0, at) + random.pick(['\u0000', '"', '\n\n', '\r', '[DONE]', '}{']) + text.slice(at);
  }

  return { mutate, spoil };
}
