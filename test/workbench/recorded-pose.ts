/** Where the gripper was, by the record: read from the trajectory's file, and written as the stage writes it in English. */
import { readFileSync } from 'node:fs';
import { poseAt } from '../../protocol/poses.ts';
import { decodeTrajectory, trajectorySchema } from '../../protocol/trajectory.ts';

/** @param file of the trajectory. @param time simulated seconds. @returns the stage's line about the robot. */
export function recordedStatus(file: string, time: number): string {
  const trajectory = trajectorySchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const { position } = poseAt(decodeTrajectory(trajectory), time, trajectory.bodies.indexOf('hand'));
  const held = trajectory.spans.findLast(({ end }) => end <= time + 1e-6)?.held ?? null;
  const seconds = `${Number(time.toFixed(2))} sec simulated`;
  return `${seconds} · gripper at ${position.map((metres) => `${metres.toFixed(3)} m`).join(', ')} · ${held === null ? 'gripper empty' : `holds ${held}`}`;
}
