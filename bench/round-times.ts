/** How a recorded round spent its time, read from its records alone. */
import type { CallRecord, EpisodeRecord } from '../protocol/records.ts';
import { isDamaged, openRecording } from '../recordings/index.ts';

export interface RoundTimes {
  episodes: number;
  calls: number;
  responseTokens: number;
  /** Seconds of the round's parts. */
  collect: number;
  samples: number;
  update: number;
  /** Seconds of all optimizer steps; the rest of `update` is loading, scoring and saving. */
  steps: number;
  /** Sums over episodes: waiting for replies, and everything else (physics, harness). */
  waitingSeconds: number;
  physicsSeconds: number;
  /** Calls in flight, mean over the time in which there were any. */
  meanInFlight: number;
  /** Share of the collection without any call in flight. */
  plannerIdle: number;
  /** Share of the collection in which fewer episodes ran than could (the tail, and gaps between episodes). */
  notFull: number;
}

/** @throws Error when the round is not finished or a record of it is damaged. */
export async function roundTimes(directory: string, round: number, concurrency: number): Promise<RoundTimes> {
  const recording = await openRecording(directory);
  try {
    const section = `rounds/${String(round).padStart(4, '0')}`;
    const episodes = await all<EpisodeRecord>(await recording.episodes(section));
    const calls = await all<CallRecord>(await recording.calls(section));
    const steps = await all<{ seconds: number }>(await recording.steps(section));
    const summary = await recording.roundSummary(round);
    if (summary === undefined || isDamaged(summary)) throw new Error(`${section} has no summary`);
    const { collect, samples, update } = summary.seconds;
    const waiting = calls.reduce((sum, call) => sum + call.durations.total / 1000, 0);
    const total = episodes.reduce((sum, episode) => sum + episode.seconds, 0);
    const inFlight = levels(calls.map((call) => [Date.parse(call.startedAt), call.durations.total]));
    const running = levels(episodes.map((episode) => [Date.parse(episode.startedAt), 1000 * episode.seconds]));
    const busy = inFlight.reduce((sum, { level, seconds }) => sum + (level > 0 ? seconds : 0), 0);
    const full = running.reduce((sum, { level, seconds }) => sum + (level >= concurrency ? seconds : 0), 0);
    return {
      episodes: episodes.length,
      calls: calls.length,
      responseTokens: calls.reduce((sum, call) => sum + (call.responseTokenIds?.length ?? 0), 0),
      collect,
      samples,
      update,
      steps: steps.reduce((sum, step) => sum + step.seconds, 0),
      waitingSeconds: waiting,
      physicsSeconds: total - waiting,
      meanInFlight: waiting / busy,
      plannerIdle: Math.max(0, 1 - busy / collect),
      notFull: Math.max(0, 1 - full / collect),
    };
  } finally {
    await recording.close();
  }
}

async function all<T extends object>(index: { length: number; get(i: number): Promise<object> }): Promise<T[]> {
  const records: T[] = [];
  for (let i = 0; i < index.length; i++) {
    const record = await index.get(i);
    if (isDamaged(record)) throw new Error(`record ${i} is damaged: ${record.damaged}`);
    records.push(record as T);
  }
  return records;
}

/** For how long how many of the intervals [start, length] (ms) were open. */
export function levels(intervals: [number, number][]): { level: number; seconds: number }[] {
  const changes = intervals
    .flatMap(([start, length]) => [
      { at: start, by: 1 },
      { at: start + length, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let level = 0;
  return changes.slice(0, -1).map(({ at, by }, i) => {
    level += by;
    return { level, seconds: (changes[i + 1].at - at) / 1000 };
  });
}
