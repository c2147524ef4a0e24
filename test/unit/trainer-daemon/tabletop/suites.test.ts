import { describe, expect, it } from 'vitest';
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';
import { goalOf, INITIAL_STATES, suiteNames, tasks } from '../../../../trainer-daemon/tabletop/index.ts';
import { rankBy, singleOut, the } from '../../../../trainer-daemon/tabletop/relations.ts';
import { KINDS } from '../../../../trainer-daemon/tabletop/scene/kinds.ts';
import { layout, type Pose } from '../../../../trainer-daemon/tabletop/scene/layout.ts';
import { type Base, resolveTask } from '../../../../trainer-daemon/tabletop/suites/registry.ts';
import type { Vec3 } from '../../../../trainer-daemon/tabletop/types.ts';

const BASES: Base[] = ['spatial', 'object', 'goal', 'long'];
const everyTask = suiteNames().flatMap((suite) => tasks(suite));
const place = (pose: Pose): string => `${pose.x.toFixed(4)} ${pose.y.toFixed(4)}`;

describe('suites', () => {
  it('are twelve of ten tasks, with instructions of their own', () => {
    expect(suiteNames()).toHaveLength(12);
    for (const suite of suiteNames()) {
      const instructions = tasks(suite).map((t) => t.instruction);
      expect(new Set(instructions).size, suite).toBe(10);
    }
  });

  it.each(BASES)('tabletop_%s_task tells another goal than the base task, _swap the same', (base) => {
    const own = tasks(`tabletop_${base}`);
    const other = tasks(`tabletop_${base}_task`);
    const swapped = tasks(`tabletop_${base}_swap`);
    for (let i = 0; i < 10; i++) {
      expect(other[i].instruction).not.toBe(own[i].instruction);
      expect(swapped[i].instruction).toBe(own[i].instruction);
    }
  });

  it.each(BASES)('tabletop_%s_swap exchanges places and keeps the set of places', (base) => {
    for (let task = 0; task < 10; task++) {
      const { spec } = resolveTask(`tabletop_${base}`, task);
      const own = layout(base, task, spec, '', 5);
      const swapped = layout(base, task, spec, 'swap', 5);
      const all = (poses: Record<string, Pose>): string[] => Object.values(poses).map(place).sort();
      expect(all(swapped.poses)).toEqual(all(own.poses));
      const unlike = spec.swap.flat().filter((id) => place(own.poses[id]) !== place(swapped.poses[id]));
      expect(unlike).toEqual(spec.swap.flat());
      expect(layout(base, task, spec, 'task', 5)).toEqual(own);
    }
  });

  it.each(BASES)('tabletop_%s has a layout for each of the fifty initial states, all different', (base) => {
    for (let task = 0; task < 10; task++) {
      const { spec } = resolveTask(`tabletop_${base}`, task);
      const seen = new Set<string>();
      for (let init = 0; init < INITIAL_STATES; init++) {
        seen.add(JSON.stringify(layout(base, task, spec, '', init).poses));
      }
      expect(seen.size).toBe(INITIAL_STATES);
    }
  });

  it('never let objects overlap', () => {
    for (const { suite, index } of everyTask) {
      const { base, spec, perturbation } = resolveTask(suite, index);
      const { poses } = layout(base, index, spec, perturbation, 17);
      const { objects } = spec.scene;
      for (const a of objects) {
        for (const b of objects) {
          if (a.id >= b.id) continue;
          const apart = Math.hypot(poses[a.id].x - poses[b.id].x, poses[a.id].y - poses[b.id].y);
          expect(apart, `${suite} ${index}: ${a.id}, ${b.id}`).toBeGreaterThan(
            KINDS[a.kind].radius + KINDS[b.kind].radius,
          );
        }
      }
    }
  });

  it('mean every object unambiguously, by a margin that perception can decide', () => {
    for (const { suite, index } of everyTask) {
      const { base, spec, perturbation } = resolveTask(suite, index);
      const furniture = spec.scene.cabinet ? ['drawer', 'cabinet'] : [];
      for (const init of [0, 23, 49]) {
        const { poses } = layout(base, index, spec, perturbation, init);
        const seen = [
          ...spec.scene.objects.map((o) => ({ ...o, position: [poses[o.id].x, poses[o.id].y, 0] as Vec3 })),
          ...furniture.map((kind) => ({ id: kind, kind, colour: '', position: [0.5, -0.42, 0] as Vec3 })),
        ];
        for (const step of goalOf(suite, index, init)) {
          for (const description of [step.object, step.target]) {
            if (!description) continue;
            const { chosen, margin } = rankBy(description, seen);
            expect(chosen, `${suite} ${index}: ${JSON.stringify(description)}`).toBeDefined();
            expect(margin).toBeGreaterThan(0.05);
          }
        }
      }
    }
  });

  it('the spatial exchange of landmarks makes the other bowl the one that is meant', () => {
    const { spec, goal } = resolveTask('tabletop_spatial_swap', 0);
    const meant = (perturbation: '' | 'swap'): string => {
      const { poses } = layout('spatial', 0, spec, perturbation, 3);
      const seen = spec.scene.objects.map((o) => ({ ...o, position: [poses[o.id].x, poses[o.id].y, 0] as Vec3 }));
      return singleOut(goal.goal[0].object!, seen)!.id;
    };
    expect([meant(''), meant('swap')].sort()).toEqual(['black_bowl_a', 'black_bowl_b']);
  });

  it('start unsolved, every task of every suite', async () => {
    for (const { suite, index } of everyTask) {
      const episode = await TabletopEpisode.start({ suite, task: index, init: (index * 11) % 50, noiseSeed: 'start' });
      expect(episode.success(), `${suite} ${index}`).toBe(false);
      episode.dispose();
    }
  });

  it('refuse what does not exist', async () => {
    expect(() => tasks('tabletop_spatial_both')).toThrow(/there is no suite "tabletop_spatial_both"/);
    expect(() => goalOf('tabletop_goal', 10, 0)).toThrow(/has no task 10/);
    expect(() => goalOf('tabletop_goal', 0, 50)).toThrow(/no initial state 50/);
    const start = { suite: 'tabletop_goal', task: 0, init: 1.5, noiseSeed: 'x' };
    await expect(TabletopEpisode.start(start)).rejects.toThrow(/no initial state 1.5/);
  });
});

describe('singleOut', () => {
  const at = (kind: string, colour: string, x: number, y: number) => ({ kind, colour, position: [x, y, 0] as Vec3 });
  const left = at('bowl', 'black', 0.5, 0.3);
  const middle = at('bowl', 'black', 0.6, 0.05);
  const right = at('bowl', 'black', 0.4, -0.2);
  const seen = [left, middle, right, at('plate', '', 0.6, 0.2), at('can', 'red', 0.6, -0.1)];

  it.each([
    ['on the left', left],
    ['on the right', right],
    ['at the front', right],
    ['at the back', middle],
    ['next to the red can', middle],
    ['next to the plate', left],
    ['between the plate and the red can', middle],
  ])('the black bowl %s', (relation, meant) => {
    expect(singleOut(the('black bowl', relation), seen)).toBe(meant);
  });

  it('tells by how much: the way through the meant bowl and through the next best', () => {
    // Plate to can are 0.3 m; through (0.6, 0.05) that is no detour; through (0.5, 0.3) it is 0.1414 + 0.4123 - 0.3.
    const { margin } = rankBy(the('black bowl', 'between the plate and the red can'), seen);
    const throughRight = Math.hypot(0.2, 0.4) + Math.hypot(0.2, 0.1) - 0.3;
    expect(margin).toBeCloseTo(Math.min(0.1414 + 0.4123 - 0.3, throughRight), 3);
  });

  it('finds nothing where nothing fits, and refuses unknown phrases', () => {
    expect(singleOut(the('white bowl'), seen)).toBeUndefined();
    expect(singleOut(the('black bowl', 'next to the blue box'), seen)).toBeUndefined();
    expect(() => singleOut(the('black bowl', 'over the plate'), seen)).toThrow(/unknown relation "over the plate"/);
  });
});
