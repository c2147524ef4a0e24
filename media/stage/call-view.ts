/** The call that one stands at, in words: what the planner thought, said and did, what came back, and its credit. */
import type { StageCall, StageEpisode, StagePosition, StageTool } from '../../extension/replay/stage/data.ts';
import { button, element } from '../panel/elements.ts';
import { whole } from '../panel/formats.ts';
import { outcomeWords, seconds, signed, toolWords } from './call-words.ts';
import { word } from './words.ts';

export class CallView {
  readonly element = element('section', { id: 'call', 'aria-labelledby': 'title-call' });
  private readonly go: (position: StagePosition) => void;

  /** @param go asked for when a tool call is chosen. */
  constructor(go: (position: StagePosition) => void) {
    this.go = go;
  }

  show(episode: StageEpisode, position: StagePosition): void {
    const { call: at, part } = position;
    const call = episode.calls[at];
    const focused = this.element.contains(document.activeElement) ? document.activeElement?.id : undefined;
    const title = !call ? word('noCalls') : word('callOf', at + 1, episode.calls.length);
    this.element.replaceChildren(element('h2', { id: 'title-call' }, title));
    if (!call) return;
    if (part === 'outcome')
      this.element.append(
        element('p', { class: 'outcome' }, element('strong', {}, word('outcome')), `: ${outcomeWords(episode)}`),
      );
    if (call.damaged !== null) {
      this.element.append(element('p', { class: 'notice notice-warning' }, word('damagedCall', call.damaged)));
      return;
    }
    this.element.append(
      ...call.unread.map((why) => element('p', { class: 'notice notice-warning' }, word('unreadPart', why))),
      ...spoken(word('reasoning'), call.reasoning),
      ...spoken(word('answer'), call.content),
      this.toolList(call, position),
      element('p', { class: 'note facts' }, factsOf(call)),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  private toolList(call: StageCall, { call: at, part }: StagePosition): HTMLElement {
    if (call.tools.length === 0) return element('p', {}, word('noTools'));
    return element(
      'ol',
      { class: 'tools', 'aria-label': word('tools') },
      ...call.tools.map((tool, index) =>
        element(
          'li',
          { class: tool.failed && 'failed' },
          button(toolWords(tool), () => this.go({ call: at, part: index }), {
            id: `tool-${index}`,
            class: 'tool',
            'aria-current': part === index && 'step',
          }),
          element('pre', { class: 'result' }, `${word('result')}: ${tool.result ?? word('noResult')}`),
          ...heldOf(tool),
        ),
      ),
    );
  }
}

function heldOf({ held }: StageTool): HTMLElement[] {
  if (held === undefined) return [];
  return [element('p', { class: 'note' }, held === null ? word('holdsNothing') : word('holds', held))];
}

function spoken(name: string, text: string | null): HTMLElement[] {
  if (!text) return [];
  return [element('h3', {}, name), element('p', { class: 'spoken' }, text)];
}

function factsOf(call: StageCall): string {
  const { interval, latency, promptTokens, responseTokens, status, finishReason, advantage, sample } = call;
  return [
    ...(latency === null ? [] : [word('latencyOf', seconds(latency))]),
    ...(interval ? [word('simulatedFor', seconds(interval.end - interval.start))] : []),
    ...(promptTokens === null ? [] : [`${word('promptTokens')}: ${whole(promptTokens)}`]),
    ...(responseTokens === null ? [] : [`${word('laneTokens')}: ${whole(responseTokens)}`]),
    ...(status === 'complete' ? [] : [word('ended', status)]),
    ...(finishReason === null ? [] : [word('ended', finishReason)]),
    ...(advantage === null ? [] : [word('advantageOf', signed(advantage))]),
    sample ?? word('noSample'),
  ].join(' · ');
}
