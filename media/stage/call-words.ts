/** A call in few words, as the timeline, the table and the voice of the page tell it. */
import type { StageCall, StageEpisode, StagePosition, StageTool } from '../../extension/replay/stage/data.ts';
import { figure, whole } from '../panel/formats.ts';
import { word } from './words.ts';

const SHORT = 80;

/** `pick red-cube top` */
export function toolWords({ name, arguments: text }: StageTool): string {
  let given = text;
  try {
    const value: unknown = JSON.parse(text || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      given = Object.values(value)
        .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
        .join(' ');
  } catch {
    // Arguments that are no JSON are shown as the planner wrote them.
  }
  return short(`${name} ${given}`.trim());
}

/** What a call did: its tool calls, or the beginning of its answer. */
export function callWords(call: StageCall): string {
  if (call.damaged !== null) return short(word('damagedCall', call.damaged));
  if (call.tools.length > 0) return call.tools.map(toolWords).join(', ');
  return short(call.content ?? '') || word('noTools');
}

/** The result of a tool in its first words. */
export function resultWords({ result }: StageTool): string {
  return result === null ? word('noResult') : short(result);
}

/** Where one stands, to be said aloud. */
export function positionWords(episode: StageEpisode, { call: at, part }: StagePosition): string {
  const call = episode.calls[at];
  if (part === 'outcome') return word('outcomeSays', outcomeWords(episode));
  if (!call) return word('noCalls');
  const total = episode.calls.length;
  if (typeof part === 'number' && call.tools[part]) {
    const tool = call.tools[part];
    return word('toolSays', at + 1, total, part + 1, `${toolWords(tool)}, ${resultWords(tool)}`);
  }
  const [first] = call.tools;
  const result = call.tools.length === 1 && first.result !== null ? `, ${resultWords(first)}` : '';
  return word('callSays', at + 1, total, `${callWords(call)}${result}`);
}

export function outcomeWords({ outcome, open, noOutcome }: StageEpisode): string {
  if (open) return word('stillRunning');
  if (!outcome) return word('noOutcome', noOutcome ?? '');
  if (!outcome.valid) return word('invalidEpisode', outcome.invalidReason ?? '');
  const reward = figure(outcome.reward);
  return outcome.successTurn === null ? word('solved', reward) : word('solvedIn', reward, outcome.successTurn + 1);
}

/** All that is known of a call, in one line. */
export function callLine(call: StageCall, at: number): string {
  return [
    word('callColumn', at + 1, callWords(call)),
    ...(call.interval ? [word('simulatedFor', seconds(call.interval.end - call.interval.start))] : []),
    ...(call.latency === null ? [] : [word('latencyOf', seconds(call.latency))]),
    ...(call.responseTokens === null ? [] : [word('tokensOf', whole(call.responseTokens))]),
    ...(call.advantage === null ? [] : [word('advantageOf', signed(call.advantage))]),
    ...(call.sample === null ? [] : [call.sample]),
    ...call.unread.map((why) => word('unreadPart', why)),
  ].join(', ');
}

/** `1.25 s`, `12 ms` */
export function seconds(value: number): string {
  const small = value > 0 && value < 0.1;
  const unit = small ? 'millisecond' : 'second';
  const digits = small ? 0 : 2;
  return new Intl.NumberFormat(document.documentElement.lang || 'en', {
    ...{ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits },
  }).format(small ? value * 1000 : value);
}

/** Metres to the millimetre, so that numbers below each other can be compared. */
export function metres(value: number): string {
  return new Intl.NumberFormat(document.documentElement.lang || 'en', {
    ...{ style: 'unit', unit: 'meter', unitDisplay: 'short', minimumFractionDigits: 3, maximumFractionDigits: 3 },
  }).format(value);
}

export function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${figure(value)}`;
}

function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > SHORT ? `${line.slice(0, SHORT - 1)}…` : line;
}
