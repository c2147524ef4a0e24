/** An episode without a screen: its whole text, or JSON Lines. Read and written call by call. */
import { isDamaged } from '../../recordings/index.ts';
import { knownMessages } from '../../recordings/replay/facts.ts';
import { type ReplayCall, type ReplayEpisode, readTranscript } from '../../recordings/replay/index.ts';
import { tokensOf } from '../../recordings/replay/tokens.ts';
import { vocabularyOf } from '../../recordings/replay/vocabulary.ts';
import { jsonText } from '../output/safe-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { creditWords, groupWords } from './words.ts';

/** @param first position to begin with. */
export async function printText(terminal: Pick<Terminal, 'out'>, episode: ReplayEpisode, first = 0): Promise<void> {
  for (let position = first; position < episode.length; position++) {
    const transcript = await readTranscript(episode, undefined, { only: position });
    const [section] = transcript.sections;
    if (position === first) tellHead(terminal, episode, transcript.lines.slice(0, section.line - 1));
    const [head, ...others] = section.lines;
    const credit = creditWords(await episode.call(position));
    terminal.out([head, ...(credit.length > 0 ? [`  ${credit.join(' · ')}`] : []), ...others].join('\n'));
  }
  const { lines, sections } = await readTranscript(episode, undefined, { from: episode.length });
  const head = sections[0] ? sections[0].line - 1 : lines.length;
  if (first >= episode.length) tellHead(terminal, episode, lines.slice(0, head));
  if (sections.length > 0) terminal.out(lines.slice(head).join('\n').trimEnd());
}

function tellHead(terminal: Pick<Terminal, 'out'>, episode: ReplayEpisode, lines: readonly string[]): void {
  const told = lines.filter((line) => line !== '');
  if (episode.group.length > 1) told.push(`rewards of the group: ${groupWords(episode)}`);
  terminal.out([...told, ''].join('\n'));
}

/** One line for the episode, then one a call. */
export async function printJson(terminal: Pick<Terminal, 'out'>, episode: ReplayEpisode, first = 0): Promise<void> {
  const { id, section, length, outcome, group, open } = episode;
  const told = {
    kind: 'episode',
    id,
    section,
    calls: length,
    open,
    record: outcome.record,
    reason: outcome.reason,
    group,
  };
  terminal.out(jsonText(told));
  for (let position = first; position < episode.length; position++)
    terminal.out(jsonText(await callLine(episode, await episode.call(position))));
}

/** Of a request what is new in it: the messages before are those of the calls before. */
async function callLine(episode: ReplayEpisode, told: ReplayCall): Promise<object> {
  const { position, turn, call, contextDamaged, newSince, problems, sample, scores, target, toolCalls, span } = told;
  const place = { kind: 'call', episode: episode.id, position, turn };
  if (isDamaged(call)) return { ...place, damaged: call.damaged, line: call.line };
  const { id, surface, policyVersion, request, samplingAsked, samplingSent, response, finishReason } = call;
  const { usage, startedAt, durations, status, error, retryOf, untrainable } = call;
  return {
    ...{
      ...place,
      id,
      surface,
      policyVersion,
      status,
      error,
      finishReason,
      retryOf,
      untrainable,
      startedAt,
      durations,
    },
    ...{ usage, samplingAsked, samplingSent, promptTokens: call.promptTokenIds?.length ?? null, newSince },
    contextDamaged,
    newMessages: knownMessages(request.messages.slice(newSince)),
    tools: request.tools?.map((tool) => tool.function?.name ?? tool.type) ?? null,
    response,
    actions: toolCalls.map(({ answers: _answers, ...action }) => action),
    tokens: tokensOf(told, await vocabularyOf(episode.recording, policyVersion)),
    held: await episode.heldAfter(position),
    ...{ span, sample, scores, target, problems },
  };
}
