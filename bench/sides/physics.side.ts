/** The bare physics loop: given skill calls carried out in the world, with nothing around it. */
import { createInterface } from 'node:readline';
import { ToolExecution } from '../../trainer-daemon/harnesses/tabletop-skills/tool-execution.ts';
import { startEpisode } from '../../trainer-daemon/tabletop/index.ts';

export interface BareEpisode {
  suite: string;
  task: number;
  init: number;
  noiseSeed: string;
  calls: { name: string; arguments: string }[];
}

export interface BareReply {
  success: boolean;
  simulatedSeconds: number;
}

async function play({ calls, ...start }: BareEpisode): Promise<BareReply> {
  const world = await startEpisode(start);
  try {
    const tools = new ToolExecution(world);
    for (const call of calls) tools.run(call.name, call.arguments);
    return { success: world.success(), simulatedSeconds: world.time };
  } finally {
    world.dispose();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply: object;
  try {
    reply = await play(JSON.parse(line) as BareEpisode);
  } catch (error) {
    reply = { error: (error as Error).message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
