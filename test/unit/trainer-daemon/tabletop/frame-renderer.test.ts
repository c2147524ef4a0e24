/** Pictures of a recording are those that the world's own cameras took. */
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { decodeTrajectory } from '../../../../protocol/trajectory.ts';
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';
import { CAMERAS } from '../../../../trainer-daemon/tabletop/perception/camera.ts';
import { FrameRenderer } from '../../../../trainer-daemon/tabletop/perception/frame-renderer.ts';
import { truth } from './expert.ts';

async function recorded() {
  const episode = await TabletopEpisode.start({ suite: 'tabletop_goal', task: 2, init: 14, noiseSeed: 'frames' });
  const looks = (time: number) =>
    CAMERAS.map((camera) => {
      const { width, height, png } = episode.look(camera);
      return { camera, time, width, height, pixels: PNG.sync.read(Buffer.from(png)).data };
    });
  const pictures = looks(0);
  episode.pick(truth(episode).find((d) => d.kind === 'bowl')!, 'rim');
  pictures.push(...looks(episode.time));
  const trajectory = episode.trajectory();
  episode.dispose();
  return { pictures, trajectory, track: decodeTrajectory(trajectory) };
}

describe('a picture of a recording', () => {
  it('is the one that was taken then, from every camera', async () => {
    const { pictures, trajectory, track } = await recorded();
    for (const { camera, time, width, height, pixels } of pictures) {
      const drawn = new FrameRenderer(trajectory, track, camera, width, height).frame(time);
      expect(drawn).toHaveLength(pixels.length);
      // Recorded places are rounded to 0.1 mm: pixels at edges may be others, and shades by a step.
      let others = 0;
      for (let k = 0; k < pixels.length; k += 4)
        if ([0, 1, 2].some((c) => Math.abs(drawn[k + c] - pixels[k + c]) > 3)) others++;
      expect(others / (width * height), `${camera} at ${time} s`).toBeLessThan(0.01);
    }
  });

  it('shows the whole arm from the room, and moves', async () => {
    const { trajectory, track } = await recorded();
    const room = new FrameRenderer(trajectory, track, 'room', 96, 72);
    const [first, last] = [room.frame(0), room.frame(99)];
    expect(first).not.toEqual(last);
    expect(room.frame(-1)).toEqual(first);
    expect(room.frame(Number.NaN)).toEqual(first);
  });

  it('needs the body that carries its camera', async () => {
    const { trajectory, track } = await recorded();
    const handless = { ...trajectory, bodies: trajectory.bodies.map((name) => (name === 'hand' ? 'paw' : name)) };
    expect(() => new FrameRenderer(handless, track, 'wrist', 8, 8)).toThrow(/no body "hand"/);
  });
});
