/**
 * From a recorded episode to what the stage shows of it. Texts of the recording become safe to be looked at; ids, by which
 * page and host know an episode, stay as they are.
 */
import type { Message } from '../../../protocol/chat.ts';
import { CHANNELS } from '../../../protocol/poses.ts';
import { imageRefSchema } from '../../../protocol/records.ts';
import type { TrajectoryDetection, TrajectorySpan } from '../../../protocol/trajectory.ts';
import { type DecodedTrajectory, isDamaged } from '../../../recordings/index.ts';
import {
  cutAt,
  type ReplayAction,
  type ReplayCall,
  type ReplayEpisode,
  shown,
  shownInLine,
} from '../../../recordings/replay/index.ts';
import type { StageCall, StageDetection, StageEpisode, StageImage, StageScene, StageTool } from './data.ts';

/** Longer texts are cut; the transcript has them whole. */
const LONGEST_TEXT = 8000;
/** With the mark of the cut it is as long as data.ts allows. */
const LONGEST_NAME = 399;
const LONGEST_LABEL = 400;

/** The trajectory of the episode, null where none was recorded, or why it cannot be shown. */
export type StageTrajectory = DecodedTrajectory | { problem: string } | null;

export async function stageEpisode(episode: ReplayEpisode, trajectory: StageTrajectory): Promise<StageEpisode> {
  const { record, reason } = episode.outcome;
  const spans = trajectory && 'spans' in trajectory ? trajectory.spans : [];
  const calls: StageCall[] = [];
  let looked: Look[] = [];
  for (let position = 0; position < episode.length; position++) {
    const replayed = await episode.call(position);
    calls.push(stageCall(replayed, spans, looked));
    looked = looksOf(replayed, spans);
  }
  return {
    id: episode.id,
    run: named(episode.recording.info.name),
    section: named(episode.section),
    task: named(record?.task ?? taskOf(episode.id)),
    init: record?.init ?? null,
    attempt: record?.attempt ?? null,
    outcome: record && {
      reward: record.reward,
      valid: record.valid,
      invalidReason: cutOrNull(record.invalidReason),
      successTurn: record.successTurn,
    },
    noOutcome: cutOrNull(reason),
    open: episode.open,
    calls,
    group:
      episode.group.length < 2
        ? []
        : episode.group.map(({ id, attempt, tryNumber, reward, valid, turns, successTurn }) => ({
            ...{ episode: id, attempt, tryNumber, reward, valid, turns, successTurn },
          })),
    scene: trajectory !== null && 'poses' in trajectory,
    noScene: trajectory && 'problem' in trajectory ? cut(trajectory.problem) : null,
  };
}

/** The whole motion; int16 in base64, as a message holds it. */
export function stageScene({ bodies, geoms, poses, spans }: DecodedTrajectory): StageScene {
  const { rate, frames, values } = poses;
  const bytes = Buffer.alloc(2 * CHANNELS * poses.bodies * frames);
  for (let k = 0; k < values.length; k++) bytes.writeInt16LE(values[k], 2 * k);
  const held: StageScene['held'] = [];
  for (const span of spans) {
    const body = namedOrNull(span.held);
    if ((held.at(-1)?.body ?? null) !== body) held.push({ start: span.end, body });
  }
  return { bodies: bodies.map(named), geoms, rate, frames, poses: bytes.toString('base64'), held };
}

function stageCall(replayed: ReplayCall, spans: readonly TrajectorySpan[], looked: readonly Look[]): StageCall {
  const { call, turn, sample } = replayed;
  if (isDamaged(call)) {
    const where = call.line > 0 ? `line ${call.line}: ` : '';
    return {
      ...{
        turn,
        damaged: cut(where + call.damaged),
        unread: [],
        reasoning: null,
        content: null,
        tools: [],
        images: [],
      },
      ...{ interval: null, latency: null, promptTokens: null, responseTokens: null, status: 'damaged' },
      ...{ finishReason: null, advantage: null, sample: null },
    };
  }
  const tools = replayed.toolCalls.map((action) => stageTool(action, spans));
  const intervals = tools.flatMap(({ interval }) => interval ?? []);
  return {
    turn,
    damaged: null,
    unread: [...(replayed.contextDamaged === null ? [] : [replayed.contextDamaged]), ...replayed.problems].map(cut),
    reasoning: cutOrNull(call.response?.reasoning ?? null),
    content: cutOrNull(call.response?.content ?? null),
    tools,
    images: imagesOf(call.request.messages.slice(replayed.newSince), looked),
    interval: intervals.length === 0 ? null : { start: intervals[0].start, end: intervals[intervals.length - 1].end },
    latency: call.durations.total / 1000,
    promptTokens: call.promptTokenIds?.length ?? call.usage?.prompt_tokens ?? null,
    responseTokens: call.responseTokenIds?.length ?? call.usage?.completion_tokens ?? null,
    status: call.status,
    finishReason: namedOrNull(call.finishReason),
    advantage: sample?.advantage ?? null,
    sample: namedOrNull(sample?.status ?? null),
  };
}

function stageTool(action: ReplayAction, spans: readonly TrajectorySpan[]): StageTool {
  const span = action.span === null ? undefined : spans[action.span];
  return {
    name: named(action.name),
    arguments: cut(action.argumentText),
    result: cutOrNull(action.result),
    failed: action.failed,
    interval: span ? { start: span.start, end: span.end } : null,
    ...(span && { held: namedOrNull(span.held) }),
    detections: span?.detections?.map(stageDetection) ?? null,
  };
}

function stageDetection({ name, position, size, yaw, confidence, camera, box }: TrajectoryDetection): StageDetection {
  return { name: named(name), position, size, yaw, confidence, camera: named(camera), box };
}

/** A picture that a call asked for, and what was detected at the same simulated time. */
type Look = TrajectoryDetection[];

/**
 * The pictures that come with the next call's request, in the order in which they were asked for. Boxes belong on a picture
 * only where nothing has moved between detecting and looking.
 */
function looksOf({ toolCalls }: ReplayCall, spans: readonly TrajectorySpan[]): Look[] {
  return toolCalls.flatMap(({ span }) => {
    if (span === null || spans[span]?.name !== 'look') return [];
    const detected = spans.slice(0, span).findLast(({ detections }) => detections);
    return [detected && detected.end === spans[span].end ? (detected.detections ?? []) : []];
  });
}

/** Pictures of messages. A detection is drawn on the picture of its camera, which the words beside the picture name. */
function imagesOf(messages: readonly Message[], looked: readonly Look[]): StageImage[] {
  const images: StageImage[] = [];
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    const label = cutAt(content.flatMap(({ text }) => text ?? []).join(' '), LONGEST_LABEL);
    for (const part of content) {
      const image = imageRefSchema.safeParse(part);
      if (!image.success) continue;
      const { sha256, mediaType } = image.data;
      const words: string[] = label.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
      const seen = looked[images.length] ?? [];
      const detections = seen.filter(({ camera }) => words.includes(camera.toLowerCase())).map(stageDetection);
      images.push({ sha: sha256, mediaType: mediaType.slice(0, 400), label: cut(label), detections });
    }
  }
  return images;
}

/** `run.t0.suite-3.i22.a0.0`: of an episode without a record, the part of its id that tells the task. */
function taskOf(id: string): string {
  return id.split('.')[2] ?? id;
}

function cut(text: string): string {
  // Marks are longer than what they stand for; what is far beyond the cut need not be looked at.
  const seen = shown(text.slice(0, LONGEST_TEXT + 1));
  return text.length > LONGEST_TEXT || seen.length > LONGEST_TEXT ? `${cutAt(seen, LONGEST_TEXT)} …` : seen;
}

function named(text: string): string {
  return shownInLine(text, LONGEST_NAME);
}

function namedOrNull(text: string | null): string | null {
  return text === null ? null : named(text);
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text);
}
