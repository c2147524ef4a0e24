/**
 * A recorded run of any size, written fast: every line is one that the store could have written and that readers accept,
 * but tokens and log-probs repeat, and nothing is flushed line by line.
 */
import { createWriteStream, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { callId, roundSection } from '../protocol/ids.ts';
import { sha256 } from '../protocol/random.ts';
import type { RunInfo } from '../protocol/records.ts';
import { benchRun } from './run-info.ts';

export const SECTION = roundSection(1);
/** Calls an episode. */
export const TURNS = 10;
/** Episodes whose calls come in turn, as those of episodes that run at the same time do. */
const TOGETHER = 8;
const RESPONSE = 250;
const PROMPT_A_TURN = 120;
/** One in so many calls was selected and scored. */
const SCORED = 10;
const ATTEMPTS = 4;
const VARIETY = 64;
const STARTED = '2026-01-01T00:00:00.000Z';

const STATES = 34;
/** Task and initial state of an episode's group. */
const groupOf = (number: number) => {
  const group = Math.floor(number / ATTEMPTS);
  return { task: Math.floor(group / STATES), init: 11 + (group % STATES), attempt: number % ATTEMPTS };
};

export const episodeOf = (number: number): string => {
  const { task, init, attempt } = groupOf(number);
  return `be7c4000.r1.tabletop_goal_swap-${task}.i${init}.a${attempt}.0`;
};

/** A file that is written as fast as the disk takes it. */
class Lines {
  bytes = 0;
  private readonly stream;
  private held: string[] = [];
  private size = 0;

  constructor(path: string) {
    this.stream = createWriteStream(path, { highWaterMark: 1 << 20 });
  }

  async add(line: string): Promise<void> {
    this.held.push(line);
    this.size += line.length + 1;
    if (this.size > 1 << 20) await this.flush();
  }

  async end(): Promise<void> {
    await this.flush();
    this.stream.end();
    await finished(this.stream);
  }

  private async flush(): Promise<void> {
    const text = this.held.map((line) => `${line}\n`).join('');
    this.held = [];
    this.size = 0;
    this.bytes += Buffer.byteLength(text);
    if (!this.stream.write(text)) await new Promise<void>((done) => this.stream.once('drain', () => done()));
  }
}

const numbers = (seed: number, count: number, of: (k: number) => number) =>
  JSON.stringify(Array.from({ length: count }, (_, k) => of(k * 31 + seed * 17)));

/**
 * Writes a run of so many episodes into a new folder.
 * @returns bytes of its files.
 */
export async function writeReplayRun(directory: string, episodes: number): Promise<{ bytes: number; calls: number }> {
  mkdirSync(join(directory, SECTION), { recursive: true });
  const info: RunInfo = { ...benchRun, name: 'replay-bench' };
  await writeFile(join(directory, 'run.json'), JSON.stringify(info));
  await writeFile(
    join(directory, 'journal.jsonl'),
    `${JSON.stringify({ seq: 1, at: STARTED, event: { type: 'run-finished', seconds: 1 } })}\n`,
  );
  const file = (name: string) => new Lines(join(directory, name));
  const calls = file(`${SECTION}/calls.jsonl`);
  const records = file(`${SECTION}/episodes.jsonl`);
  const samples = file(`${SECTION}/samples.jsonl`);
  const scores = file(`${SECTION}/scores.jsonl`);
  const messages = file('messages.jsonl');
  const ids = Array.from({ length: VARIETY }, (_, k) => numbers(k, RESPONSE, (n) => (n * 7919) % 1024));
  const suffixes = Array.from({ length: VARIETY }, (_, k) => numbers(k, PROMPT_A_TURN, (n) => (n * 104729) % 1024));
  const logs = Array.from({ length: VARIETY }, (_, k) => numbers(k, RESPONSE, (n) => -Math.log(1 + (n % 97))));
  const weights = numbers(1, RESPONSE, (n) => 1 + (n % 7) / 100);
  const clipped = numbers(1, RESPONSE, (n) => (n % 50 === 0 ? 2 : 0));
  const body = async (value: unknown): Promise<string> => {
    const text = JSON.stringify(value);
    const hash = sha256(text);
    await messages.add(`{"sha256":"${hash}","body":${text}}`);
    return hash;
  };
  const system = await body({
    role: 'system',
    content: `You drive a robot arm. ${'Detect before you act. '.repeat(40)}`,
  });

  for (let first = 0; first < episodes; first += TOGETHER) {
    const batch = Array.from({ length: Math.min(TOGETHER, episodes - first) }, (_, k) => first + k);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const number of batch) {
        const episode = episodeOf(number);
        const id = callId(episode, turn);
        const pick = (number * TURNS + turn) % VARIETY;
        const tool = { id: `t${turn}`, type: 'function', function: { name: 'detect', arguments: '{}' } };
        const news =
          turn === 0
            ? [system, await body({ role: 'user', content: `Task: put bowl ${number} on the plate` })]
            : [
                await body({
                  role: 'assistant',
                  content: `Step ${turn} of ${number}`,
                  tool_calls: [{ ...tool, id: `t${turn - 1}` }],
                }),
                await body({
                  role: 'tool',
                  tool_call_id: `t${turn - 1}`,
                  content: `${number} ${turn}: ${'cube at 40,12 near plate 8\n'.repeat(40)}`,
                }),
              ];
        const base = turn === 0 ? null : callId(episode, turn - 1);
        const start = base === null ? '' : `"start":{"base":"${base}","shared":${2 * turn}},`;
        await calls.add(
          `{"version":1,"id":"${id}","episode":"${episode}","turn":${turn},"surface":"chat","policyVersion":1,"request":{${start}"messages":${JSON.stringify(news)},"tools":null,"other":{"model":"planner"}},"samplingAsked":{},"samplingSent":{"temperature":1},"prompt":{"base":${JSON.stringify(base)},"shared":${turn * PROMPT_A_TURN},"suffix":${suffixes[pick]},"length":${(turn + 1) * PROMPT_A_TURN}},"responseTokenIds":${ids[pick]},"logprobs":${logs[pick]},"response":{"content":"Step ${turn + 1} of ${number}","reasoning":null,"toolCalls":[${JSON.stringify(tool)}]},"finishReason":"tool_calls","usage":null,"startedAt":"${STARTED}","durations":{"firstToken":1,"total":2},"status":"complete","error":null,"retryOf":null}`,
        );
        const scored = (number * TURNS + turn) % SCORED === 0;
        await samples.add(
          `{"call":"${id}","episode":"${episode}","advantage":${number % 2 === 0 ? 0.5 : -0.5},"u":${scored ? 1 : null},"promptLength":${(turn + 1) * PROMPT_A_TURN},"responseLength":${RESPONSE},"status":"${scored ? 'selected' : 'not-selected'}"}`,
        );
        if (scored)
          await scores.add(
            `{"call":"${id}","pass":0,"step":1,"logq":${logs[pick]},"logp":${logs[(pick + 1) % VARIETY]},"w":${weights},"clipped":${clipped}}`,
          );
      }
    }
    for (const number of batch) {
      const { task, init, attempt } = groupOf(number);
      await records.add(
        JSON.stringify({
          ...{ version: 1, id: episodeOf(number), role: 'rollout', round: 1, task: `tabletop_goal_swap/${task}` },
          ...{ init, attempt, reward: number % 2 === 0 ? 1 : 0, valid: true, invalidReason: null, successTurn: null },
          ...{
            policyVersion: 1,
            turns: TURNS,
            seconds: 1,
            end: 'exit',
            tryNumber: 0,
            outputDir: null,
            trajectory: null,
          },
          startedAt: STARTED,
        }),
      );
    }
  }
  const files = [calls, records, samples, scores, messages];
  for (const one of files) await one.end();
  return { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), calls: episodes * TURNS };
}
