/** The stage as a whole: one place in the episode, and everything that shows it. */
import type { StageDetection, StageEpisode, StagePosition, StageScene } from '../../extension/replay/stage/data.ts';
import type { ToHost, ToPage } from '../../extension/replay/stage/messages.ts';
import { Timeline } from '../../extension/replay/stage/timeline.ts';
import { element } from '../panel/elements.ts';
import { CallView } from './call-view.ts';
import { positionWords } from './call-words.ts';
import { Clock } from './clock.ts';
import { ControlsView } from './controls-view.ts';
import { groupView } from './group-view.ts';
import { headView } from './head-view.ts';
import { HelpView } from './help-view.ts';
import { type Deed, deedOf } from './keys.ts';
import { PicturesView } from './pictures-view.ts';
import { Place } from './place.ts';
import { TimelineView } from './timeline-view.ts';
import { word } from './words.ts';
import { WorldPanel } from './world-panel.ts';

const NONE: StageDetection[] = [];
/** A key turns the view so far, in radians. */
const TURN = Math.PI / 18;
const ZOOM = 1.15;

export class Stage {
  private readonly root: HTMLElement;
  private readonly news: HTMLElement;
  private readonly tell: (message: ToHost) => void;
  private readonly clock = new Clock((seconds) => this.tick(seconds));
  private readonly controls: ControlsView;
  private readonly world: WorldPanel;
  private readonly call: CallView;
  private readonly pictures: PicturesView;
  private readonly line: TimelineView;
  private readonly help: HelpView;
  private readonly robot = element('div', { class: 'robot' });
  private readonly words = element('div', { class: 'words' });
  private head = element('header');
  private group = element('section');
  private episode: StageEpisode | undefined;
  private timeline = new Timeline([]);
  private place = new Place({ call: 0, part: 'call' });
  /** Of playing. */
  private time = 0;
  private looping = false;
  private said = '';

  constructor(root: HTMLElement, news: HTMLElement, tell: (message: ToHost) => void) {
    this.root = root;
    this.news = news;
    this.tell = tell;
    const act = (deed: Deed) => this.act(deed);
    this.controls = new ControlsView(act, this.clock);
    this.world = new WorldPanel(
      (episode) => tell({ type: 'scene', episode }),
      () => this.draw(),
    );
    this.call = new CallView((position) => this.go(position));
    this.pictures = new PicturesView((sha) => tell({ type: 'image', sha }));
    this.line = new TimelineView((position) => this.go(position));
    this.help = new HelpView();
    document.addEventListener('keydown', (event) => {
      if (this.help.open) return;
      const deed = deedOf(event);
      if (!deed) return;
      event.preventDefault();
      this.act(deed);
    });
  }

  /** Everything anew: another episode, or more of the same. */
  show(episode: StageEpisode, position: StagePosition): void {
    const grown = this.episode?.id === episode.id;
    const first = this.episode === undefined;
    this.episode = episode;
    this.timeline = new Timeline(episode.calls);
    if (!grown) this.clock.stop();
    const focused = document.activeElement?.id;
    this.head = headView(episode);
    this.group = this.groupOf(episode);
    if (first) this.lay();
    else {
      this.root.querySelector('header')?.replaceWith(this.head);
      this.root.querySelector('#group')?.replaceWith(this.group);
    }
    this.controls.setTimeline(this.timeline);
    this.line.show(episode, this.timeline);
    this.world.show(episode);
    this.arrange();
    if (!grown) {
      this.place = new Place(position);
      this.time = this.timeline.timeOf(position);
    } else if (this.place.told(position)) {
      this.clock.stop();
      this.time = this.timeline.timeOf(position);
    }
    if (focused) document.getElementById(focused)?.focus();
    this.present();
  }

  /** The host's cursor has moved. */
  moved(episode: string, position: StagePosition): void {
    if (episode !== this.episode?.id || !this.place.told(position)) return;
    this.clock.stop();
    this.time = this.timeline.timeOf(position);
    this.present();
  }

  tookScene(episode: string, scene: StageScene | null, problem: string | null): void {
    this.world.took(episode, scene, problem);
    this.arrange();
    this.draw();
    this.renewGroup();
  }

  async tookImage(image: Extract<ToPage, { type: 'image' }>): Promise<void> {
    await this.pictures.took(image);
  }

  refused(message: string): void {
    this.place.forget();
    this.clock.stop();
    this.say(word('refused', message));
    this.present(false);
  }

  /** In the colours of a theme that has just come. */
  redress(): void {
    this.world.refit();
    this.pictures.redress();
    this.line.place(this.time, this.place.position);
  }

  /** Where there is no robot to see, its place is the pictures'. */
  private arrange(): void {
    const { element: pictures } = this.pictures;
    const into = this.world.empty ? this.robot : this.words;
    if (pictures.parentElement === into) return;
    if (into === this.robot) this.world.element.after(pictures);
    else into.append(pictures);
  }

  private lay(): void {
    const { root, robot, words } = this;
    robot.append(this.world.element, this.controls.element);
    words.append(this.call.element);
    const scene = element('div', { class: 'scene' }, robot, words);
    root.replaceChildren(this.head, scene, this.line.element, this.group, this.help.element);
  }

  private act(deed: Deed) {
    const { call, part } = this.place.position;
    const last = this.timeline.segments.length - 1;
    switch (deed) {
      case 'play':
        return this.play();
      case 'back':
        if (part === 'outcome' || part !== 'call') return this.go({ call, part: 'call' });
        return this.go({ call: this.timeline.neighbour(call, -1), part: 'call' });
      case 'on':
        if (call < last) return this.go({ call: call + 1, part: 'call' });
        return this.go(this.end);
      case 'first':
        return this.go({ call: 0, part: 'call' });
      case 'last':
        return this.go(this.end);
      case 'slower':
      case 'faster':
        this.clock.faster(deed === 'faster' ? 1 : -1);
        this.controls.update(this.time, this.place.position, this.looping);
        return this.say(word('speedIs', `${this.clock.speed}×`));
      case 'loop':
        this.looping = !this.looping;
        this.controls.update(this.time, this.place.position, this.looping);
        return this.say(word(this.looping ? 'loopOn' : 'loopOff'));
      case 'detections':
        this.world.toggleDetections();
        return this.draw();
      case 'view':
        return this.world.nextView();
      case 'help':
        return this.help.show();
      case 'turn-left':
        return this.world.view?.turn(-TURN, 0);
      case 'turn-right':
        return this.world.view?.turn(TURN, 0);
      case 'turn-up':
        return this.world.view?.turn(0, TURN);
      case 'turn-down':
        return this.world.view?.turn(0, -TURN);
      case 'nearer':
        return this.world.view?.zoom(1 / ZOOM);
      case 'further':
        return this.world.view?.zoom(ZOOM);
      default:
        return this.scrub(deed.to);
    }
  }

  /** After the last call: the outcome, where there is one. */
  private get end(): StagePosition {
    const call = Math.max(0, this.timeline.segments.length - 1);
    return { call, part: this.episode?.open || call >= this.timeline.segments.length ? 'call' : 'outcome' };
  }

  private play(): void {
    if (this.clock.running) this.clock.stop();
    else if (this.timeline.length > 0) {
      if (!this.looping && this.time >= this.timeline.length) this.go({ call: 0, part: 'call' });
      else if (this.place.position.part === 'outcome') this.enter(this.place.position.call);
      this.clock.start();
    }
    this.controls.update(this.time, this.place.position, this.looping);
  }

  private tick(seconds: number) {
    const { call } = this.place.position;
    const segment = this.timeline.segments[call];
    if (!segment) return this.clock.stop();
    this.time += seconds;
    if (this.time >= segment.to) {
      if (this.looping) this.time = segment.from;
      else if (call + 1 < this.timeline.segments.length) return this.enter(call + 1);
      else {
        this.clock.stop();
        return this.go(this.end);
      }
    }
    this.follow();
  }

  private scrub(time: number) {
    this.clock.stop();
    this.time = Math.max(0, Math.min(this.timeline.length, time));
    const { call } = this.timeline.at(this.time);
    if (call === this.place.position.call && this.place.position.part === 'call') return this.follow();
    this.enter(call, false);
  }

  /** Into a call without a jump in time. */
  private enter(call: number, atStart = true): void {
    if (atStart)
      this.time = Math.max(this.timeline.segments[call].from, Math.min(this.time, this.timeline.segments[call].to));
    this.ask({ call, part: 'call' });
  }

  /** To a position, at its time. */
  private go(position: StagePosition): void {
    this.clock.stop();
    this.time = this.timeline.timeOf(position);
    this.ask(position);
  }

  private ask(position: StagePosition): void {
    if (this.episode && this.place.ask(position)) this.tell({ type: 'goto', episode: this.episode.id, position });
    this.present();
  }

  private beside(id: string): void {
    this.world.toggleBeside(id);
    this.draw();
    this.renewGroup();
  }

  private groupOf(episode: StageEpisode): HTMLElement {
    const enter = (id: string) => this.tell({ type: 'attempt', episode: id });
    return groupView(episode, { enter, beside: (id) => this.beside(id) }, this.world.besideId);
  }

  private renewGroup(): void {
    if (!this.episode) return;
    const focused = document.activeElement?.id;
    const next = this.groupOf(this.episode);
    this.group.replaceWith(next);
    this.group = next;
    if (focused) document.getElementById(focused)?.focus();
  }

  /** Shows the position: words, pictures, line and world. */
  private present(aloud = true): void {
    const { episode } = this;
    if (!episode) return;
    const { position } = this.place;
    this.call.show(episode, position);
    this.pictures.show(episode, position);
    if (aloud) this.say(positionWords(episode, position));
    this.follow();
  }

  /** Shows the time. */
  private follow(): void {
    this.controls.update(this.time, this.place.position, this.looping);
    this.line.place(this.time, this.place.position);
    this.draw();
  }

  private draw(): void {
    const { call } = this.place.position;
    const world = this.timeline.segments[call] ? this.timeline.worldAt(call, this.time) : 0;
    this.world.draw(world, this.seen(call));
  }

  /** What was detected last, up to a call. */
  private seen(call: number): StageDetection[] {
    for (let at = Math.min(call, (this.episode?.calls.length ?? 0) - 1); at >= 0; at--) {
      const found = this.episode?.calls[at].tools.findLast(({ detections }) => detections)?.detections;
      if (found) return found;
    }
    return NONE;
  }

  private say(text: string): void {
    if (text === this.said) return;
    this.said = text;
    this.news.textContent = text;
  }
}
