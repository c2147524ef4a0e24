/** Play, steps, speed, loop, and the time to drag. */
import type { StagePosition } from '../../extension/replay/stage/data.ts';
import { Timeline } from '../../extension/replay/stage/timeline.ts';
import { button, element } from '../panel/elements.ts';
import { seconds } from './call-words.ts';
import { type Clock, SPEEDS } from './clock.ts';
import type { Deed } from './keys.ts';
import { word } from './words.ts';

export class ControlsView {
  readonly element = element('div', { class: 'controls', role: 'group' });
  private readonly clock: Clock;
  private readonly act: (deed: Deed) => void;
  private readonly range = element('input', { type: 'range', min: 0, step: 0.05, value: 0, id: 'scrub' });
  private readonly speed = element('select', { id: 'speed' });
  private play = element('button');
  private loop = element('button');
  private timeline = new Timeline([]);

  constructor(act: (deed: Deed) => void, clock: Clock) {
    this.act = act;
    this.clock = clock;
    this.range.addEventListener('input', () => act({ to: Number(this.range.value) }));
    this.speed.addEventListener('change', () => {
      clock.setSpeed(Number(this.speed.value));
    });
  }

  /** The words are known when the first episode is. */
  setTimeline(timeline: Timeline): void {
    this.timeline = timeline;
    this.range.max = String(timeline.length);
    this.range.disabled = timeline.length === 0;
    if (this.element.childElementCount > 0) return;
    this.element.setAttribute('aria-label', word('controls'));
    this.range.setAttribute('aria-label', word('scrub'));
    this.speed.replaceChildren(...SPEEDS.map((speed) => element('option', { value: speed }, `${speed}×`)));
    this.play = button('▶', () => this.act('play'), { id: 'play' });
    this.loop = button('⟳', () => this.act('loop'), {
      id: 'loop',
      'aria-label': word('loop'),
      title: `${word('loop')} (L)`,
    });
    const step = (sign: string, name: string, key: string, deed: Deed) =>
      button(sign, () => this.act(deed), { 'aria-label': name, title: `${name} (${key})` });
    this.element.append(
      step('«', word('previousCall'), '←', 'back'),
      this.play,
      step('»', word('nextCall'), '→', 'on'),
      this.range,
      element('label', {}, element('span', { class: 'unseen' }, word('speed')), this.speed),
      this.loop,
      button('?', () => this.act('help'), { id: 'keys', 'aria-label': word('help'), title: `${word('help')} (?)` }),
    );
  }

  update(time: number, { call }: StagePosition, looping: boolean): void {
    const { running, speed } = this.clock;
    const name = word(running ? 'pause' : 'play');
    this.play.textContent = running ? '❚❚' : '▶';
    this.play.setAttribute('aria-label', name);
    this.play.title = `${name} (Space)`;
    this.loop.setAttribute('aria-pressed', String(looping));
    this.speed.value = String(speed);
    this.range.value = String(time);
    this.range.setAttribute('aria-valuetext', word('scrubAt', call + 1, this.timeline.segments.length, seconds(time)));
  }
}
