import { PNG } from 'pngjs';
import { afterEach, describe, expect, it } from 'vitest';
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';
import { Camera } from '../../../../trainer-daemon/tabletop/perception/camera.ts';
import { fitsQuery } from '../../../../trainer-daemon/tabletop/perception/detector.ts';
import { stanceOf } from '../../../../trainer-daemon/tabletop/perception/geometry.ts';
import type { Detection, Vec3 } from '../../../../trainer-daemon/tabletop/types.ts';
import { truth } from './expert.ts';

let episode: TabletopEpisode;
const begin = async (suite: string, task: number, init = 0, noiseSeed = 'perception'): Promise<TabletopEpisode> => {
  episode = await TabletopEpisode.start({ suite, task, init, noiseSeed });
  return episode;
};
afterEach(() => episode?.dispose());

/** Ground distance between where a thing is seen and where it is. */
const errors = (seen: Detection[], real: Detection[]): number[] =>
  seen.map((d) => {
    const same = real.filter((r) => r.kind === d.kind && r.colour === d.colour);
    return Math.min(...same.map((r) => Math.hypot(r.position[0] - d.position[0], r.position[1] - d.position[1])));
  });

const mean = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;

describe('detections', () => {
  it('are off by millimetres up to 2 cm, and less after further looks', async () => {
    const first: number[] = [];
    const fifth: number[] = [];
    for (let init = 0; init < 8; init++) {
      const world = await begin('tabletop_object', init, init, `noise ${init}`);
      const once = world.detect().detections;
      for (let i = 0; i < 3; i++) world.detect();
      const again = world.detect().detections;
      const real = truth(world);
      first.push(...errors(once, real));
      fifth.push(...errors(again, real));
      world.dispose();
    }
    expect(first).toHaveLength(56);
    expect(Math.max(...first)).toBeLessThanOrEqual(0.0201);
    expect(mean(first)).toBeGreaterThan(0.006);
    expect(mean(fifth)).toBeLessThan(0.8 * mean(first));
  });

  it('are sharper from close by', async () => {
    const far: number[] = [];
    const near: number[] = [];
    for (let init = 0; init < 8; init++) {
      const world = await begin('tabletop_object', 4, init, `near ${init}`);
      const cube = world.detect('red cube').detections[0];
      const real = truth(world).find((d) => d.kind === 'cube')!;
      far.push(...errors([cube], [real]));
      // The camera sits in front of the hand, 6 cm from its axis.
      expect(world.moveTo([real.position[0] - 0.05, real.position[1], 0.2]).code).toBe('moved');
      for (let i = 0; i < 4; i++) world.detect();
      near.push(...errors(world.detect('red cube').detections, [real]));
      world.dispose();
    }
    expect(mean(near)).toBeLessThan(0.6 * mean(far));
  });

  it('follow the noise seed', async () => {
    const positions = async (seed: string): Promise<Vec3[]> => {
      const world = await begin('tabletop_goal', 2, 4, seed);
      const all = world.detect().detections.map((d) => d.position);
      world.dispose();
      return all;
    };
    const own = await positions('attempt 1');
    expect(await positions('attempt 1')).toEqual(own);
    expect(await positions('attempt 2')).not.toEqual(own);
  });

  it('tell kinds and places, not roles, and count from left to right', async () => {
    const world = await begin('tabletop_spatial', 0);
    const { detections } = world.detect();
    const bowls = detections.filter((d) => d.kind === 'bowl');
    expect(bowls.map((d) => d.name)).toEqual(['bowl_1', 'bowl_2']);
    expect(bowls[0].position[1]).toBeGreaterThan(bowls[1].position[1]);
    const words = JSON.stringify(detections);
    for (const { id } of world.simulation.scene.objects.filter((o) => /_[ab]$/.test(o.id))) {
      expect(words).not.toContain(id);
    }
    for (const d of detections) {
      expect(d.confidence).toBeGreaterThan(0.3);
      expect(d.confidence).toBeLessThanOrEqual(0.99);
      expect(d.box[0]).toBeLessThan(d.box[2]);
      expect(d.box[1]).toBeLessThan(d.box[3]);
      expect(d.box.every((edge) => edge >= 0 && edge <= 192)).toBe(true);
    }
  });

  it('miss what a closed drawer hides, until it is opened', async () => {
    const world = await begin('tabletop_goal', 9, 7);
    for (let look = 0; look < 10; look++) expect(world.detect('yellow cube').detections).toEqual([]);
    const drawer = truth(world).find((d) => d.kind === 'drawer')!;
    expect(drawer.open).toBe(false);
    expect(world.openDrawer(drawer).code).toBe('opened');
    const found = world.detect('yellow cube').detections;
    expect(found.map((d) => d.colour)).toEqual(['yellow']);
    expect(world.detect('drawer').detections[0].open).toBe(true);
  });

  it('lose confidence as a thing is covered', async () => {
    const world = await begin('tabletop_goal', 2, 2);
    const plateBefore = world.detect('plate').detections[0];
    const real = truth(world);
    expect(world.pick(real.find((d) => d.kind === 'bowl')!, 'rim').code).toBe('held');
    expect(world.place({ on: real.find((d) => d.kind === 'plate')! }).code).toBe('placed');
    const plateAfter = world.detect('plate').detections[0];
    expect(plateAfter.confidence).toBeLessThan(plateBefore.confidence - 0.1);
  });
});

describe('a query', () => {
  const red = { name: 'cube_1', kind: 'cube', colour: 'red' } as Detection;
  const drawer = { name: 'drawer_1', kind: 'drawer', colour: '' } as Detection;
  it.each([
    ['red cube', true],
    ['the red cubes', true],
    ['Cube', true],
    ['red', true],
    ['cube_1', true],
    ['red can and cube', true],
    ['blue cube', false],
    ['cube_2', false],
    ['can', false],
    ['something', false],
  ])('"%s" fits the red cube: %s', (query, fits) => {
    expect(fitsQuery(red, query)).toBe(fits);
  });
  it('without a colour fits things of one look', () => {
    expect(fitsQuery(drawer, 'the drawer')).toBe(true);
    expect(fitsQuery(drawer, 'red drawer')).toBe(false);
  });
});

describe('cameras', () => {
  it.each(['agent', 'side', 'wrist'] as const)('%s sees what the engine itself finds along its rays', async (name) => {
    const world = await begin('tabletop_goal', 1, 6);
    const { engine, model, data } = world.simulation;
    const camera = new Camera(world.simulation, name, 48, 48);
    camera.render();
    const geom = new engine.IntBuffer(1);
    const normal = new engine.DoubleBuffer(3);
    let unlike = 0;
    let checked = 0;
    for (let k = 3; k < 48 * 48; k += 5, checked++) {
      const ray = camera.ray(k);
      const distance = engine.mj_ray(model, data, camera.position, ray, null as never, true, -1, geom, normal);
      const hit = (geom.GetView() as Int32Array)[0];
      if (hit !== camera.segmentation[k] || Math.abs(distance - camera.depth[k]) > 1e-4) unlike++;
    }
    geom.delete();
    normal.delete();
    expect(checked).toBeGreaterThan(400);
    // Coplanar faces may tie.
    expect(unlike).toBeLessThanOrEqual(checked * 0.005);
  });

  it('give PNG pictures in which the red cube is red', async () => {
    const world = await begin('tabletop_object', 4, 1);
    const cube = world.detect('red cube').detections[0];
    const picture = world.look(cube.camera as 'agent');
    const { width, height, data } = PNG.sync.read(Buffer.from(picture.png));
    expect([width, height]).toEqual([192, 192]);
    const [left, top, right, bottom] = cube.box;
    const at = 4 * (Math.round((top + bottom) / 2) * width + Math.round((left + right) / 2));
    expect(data[at]).toBeGreaterThan(90);
    expect(data[at]).toBeGreaterThan(3 * data[at + 1]);
    expect(data[at]).toBeGreaterThan(3 * data[at + 2]);
    expect(() => world.look('ceiling' as 'agent')).toThrow(/no camera "ceiling"/);
  });
});

describe('stanceOf', () => {
  it('takes a thing that lies on its side by its extents as it lies', () => {
    // A can of 56 x 56 x 100 mm, tipped by 90 degrees about y: its axis now points along x.
    const half = Math.SQRT1_2;
    const stance = stanceOf({ position: [0.4, 0, 0.028], quaternion: [half, 0, half, 0] }, [0.056, 0.056, 0.1]);
    expect(stance.centre[0]).toBeCloseTo(0.45);
    expect(stance.centre[2]).toBeCloseTo(0.028);
    expect(stance.size[2]).toBeCloseTo(0.056);
    const along = Math.abs(Math.cos(stance.yaw)) > 0.7 ? stance.size[0] : stance.size[1];
    expect(along).toBeCloseTo(0.1);
    expect(stance.upright).toBeCloseTo(0);
  });
});
