import { describe, expect, it } from 'vitest';
import { poseAt } from '../../../../protocol/poses.ts';
import { decodeTrajectory, trajectorySchema } from '../../../../protocol/trajectory.ts';
import { TabletopEpisode } from '../../../../trainer-daemon/tabletop/episode.ts';

import { truth } from './expert.ts';

async function record() {
  const episode = await TabletopEpisode.start({ suite: 'tabletop_goal', task: 2, init: 14, noiseSeed: 'record' });
  const { simulation } = episode;
  const names = ['black_bowl', 'hand', 'finger1', 'plate', 'drawer'];
  // Poses as the simulator has them after each control step, kept beside the recorder's own.
  const poses = [names.map((n) => simulation.pose(n))];
  const recorder = simulation.onFrame!;
  simulation.onFrame = () => {
    recorder();
    poses.push(names.map((n) => simulation.pose(n)));
  };
  const seen = truth(episode);
  episode.pick(seen.find((d) => d.kind === 'bowl')!, 'rim');
  episode.place({ on: seen.find((d) => d.kind === 'plate')! });
  const trajectory = episode.trajectory();
  const { time } = episode;
  episode.dispose();
  return { trajectory, poses, names, time };
}

describe('a trajectory', () => {
  it('decodes to the poses that were recorded', async () => {
    const { trajectory, poses, names, time } = await record();
    expect(trajectory.frames).toBe(poses.length);
    expect(trajectory.frames).toBe(Math.round(time * trajectory.rate) + 1);
    expect(trajectorySchema.parse(trajectory)).toEqual(trajectory);
    const track = decodeTrajectory(trajectory);
    poses.forEach((frame, f) => {
      names.forEach((name, n) => {
        const pose = poseAt(track, f / track.rate, trajectory.bodies.indexOf(name));
        const real = frame[n];
        for (let k = 0; k < 3; k++) expect(Math.abs(pose.position[k] - real.position[k])).toBeLessThan(5.1e-5);
        // Of the two quaternions of one rotation either may be stored.
        const along = pose.quaternion.reduce((sum, q, k) => sum + q * real.quaternion[k], 0);
        expect(Math.abs(along)).toBeGreaterThan(1 - 1e-4);
      });
    });
  });

  it('changes smoothly, so that replay can interpolate', async () => {
    const { trajectory } = await record();
    const track = decodeTrajectory(trajectory);
    for (let f = 1; f < track.frames; f++) {
      for (let body = 0; body < track.bodies; body++) {
        const before = poseAt(track, (f - 1) / track.rate, body).quaternion;
        const along = poseAt(track, f / track.rate, body).quaternion.reduce((sum, q, k) => sum + q * before[k], 0);
        expect(along).toBeGreaterThan(0.9);
      }
    }
  });

  it('names its calls in time and what was held', async () => {
    const { trajectory, time } = await record();
    const { spans } = trajectory;
    expect(spans.map((s) => [s.name, s.held])).toEqual([
      ['detect', null],
      ['pick', 'black_bowl'],
      ['place', null],
    ]);
    expect(spans[0].detections!.length).toBeGreaterThan(4);
    expect(spans[1].start).toBe(spans[0].end);
    expect(spans[2].start).toBe(spans[1].end);
    expect(spans[2].end).toBe(time);
  });

  it('holds every shape with a body to move it, in little space', async () => {
    const { trajectory, time } = await record();
    const { geoms, bodies } = trajectory;
    expect(bodies[0]).toBe('world');
    expect(geoms.filter((g) => bodies[g.body] === 'black_bowl')).toHaveLength(11);
    for (const geom of geoms) {
      expect(bodies[geom.body]).toBeDefined();
      expect(['plane', 'sphere', 'capsule', 'cylinder', 'box']).toContain(geom.kind);
      expect(geom.size.length).toBe({ plane: 2, sphere: 1, capsule: 2, cylinder: 2, box: 3 }[geom.kind]);
    }
    expect(trajectory.poses.length / time).toBeLessThan(3000);
  });

  it('that is cut off is told so', async () => {
    const { trajectory } = await record();
    expect(() => decodeTrajectory({ ...trajectory, frames: trajectory.frames + 1 })).toThrow(/damaged/);
  });
});
