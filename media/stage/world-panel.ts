/** The robot: whatever view there is of it, with the words around it, and another attempt's beside it. */
import type { StageDetection, StageEpisode, StageScene } from '../../extension/replay/stage/data.ts';
import { button, element } from '../panel/elements.ts';
import { AboveView } from './above-view.ts';
import { metres, seconds } from './call-words.ts';
import { gripperAt, heldAt, type Motion, motionOf } from './motion.ts';
import { SpaceView } from './space-view.ts';
import { word } from './words.ts';
import { VIEWS, type ViewName, type WorldView } from './world-view.ts';

type Known = Motion | { problem: string } | 'asked';

const VIEW_WORDS = { free: 'viewFree', front: 'viewFront', side: 'viewSide', above: 'viewAbove' } as const;
const NONE: StageDetection[] = [];

export class WorldPanel {
  readonly element = element('section', { id: 'world', 'aria-label': '' });
  view: WorldView | undefined;
  private readonly ask: (episode: string) => void;
  private readonly redraw: () => void;
  private readonly frame = element('div', { class: 'frame' });
  private readonly note = element('p', { class: 'note', id: 'world-note' });
  private readonly status = element('p', { class: 'status', id: 'world-status' });
  private readonly choice = element('select', { id: 'view' });
  private detections = element('button');
  private readonly known = new Map<string, Known>();
  private episode: StageEpisode | undefined;
  private beside: string | undefined;
  private drawn: Motion[] = [];
  private showing = true;
  private flat = false;

  /**
   * @param ask for the motion of an episode.
   * @param redraw to be drawn again at the time of the moment.
   */
  constructor(ask: (episode: string) => void, redraw: () => void) {
    this.ask = ask;
    this.redraw = redraw;
  }

  /** The attempt that is shown beside. */
  get besideId(): string | undefined {
    return this.beside;
  }

  /** There is nothing to see, and nothing on its way. */
  get empty(): boolean {
    return this.drawn.length === 0 && (!this.episode?.scene || this.known.get(this.episode.id) !== 'asked');
  }

  show(episode: StageEpisode): void {
    const ended = this.episode?.id === episode.id && !this.episode.scene && episode.scene;
    this.episode = episode;
    if (this.element.childElementCount === 0) this.lay();
    if (this.beside === episode.id || !episode.group.some((one) => one.episode === this.beside))
      this.beside = undefined;
    if (ended) this.known.delete(episode.id);
    if (episode.scene) this.want(episode.id);
    this.arrange();
  }

  took(episode: string, scene: StageScene | null, problem: string | null): void {
    try {
      this.known.set(
        episode,
        scene ? motionOf(scene, this.labelOf(episode)) : { problem: problem ?? word('besideNothing') },
      );
    } catch (error) {
      this.known.set(episode, { problem: (error as Error).message });
    }
    this.arrange();
  }

  toggleBeside(episode: string): void {
    this.beside = this.beside === episode ? undefined : episode;
    if (this.beside) this.want(this.beside);
    this.arrange();
  }

  toggleDetections(): void {
    this.showing = !this.showing;
    this.detections.setAttribute('aria-pressed', String(this.showing));
  }

  nextView(): void {
    const at = VIEWS.indexOf(this.choice.value as ViewName);
    this.choice.value = VIEWS[(at + 1) % VIEWS.length];
    this.view?.look(this.choice.value as ViewName);
  }

  refit(): void {
    this.view?.refit();
  }

  /** @param time simulated. */
  draw(time: number, detections: StageDetection[]): void {
    const [motion] = this.drawn;
    if (!this.view || !motion) return;
    this.view.draw(time, this.showing ? detections : NONE);
    const at = seconds(time);
    const held = heldAt(motion, time);
    this.view.element.setAttribute('aria-label', word(this.flat ? 'fromAbove' : 'worldHelp', at));
    const gripper = gripperAt(motion, time);
    this.status.textContent = [
      word('worldTime', at),
      ...(gripper ? [word('gripperAt', ...gripper.map(metres))] : []),
      held === null ? word('holdsNothing') : word('holds', held),
    ].join(' · ');
  }

  private lay(): void {
    this.element.setAttribute('aria-label', word('world'));
    this.choice.replaceChildren(...VIEWS.map((view) => element('option', { value: view }, word(VIEW_WORDS[view]))));
    this.choice.addEventListener('change', () => this.view?.look(this.choice.value as ViewName));
    this.detections = button(
      word('detections'),
      () => {
        this.toggleDetections();
        this.redraw();
      },
      { id: 'detections', 'aria-pressed': 'true', title: `${word('detections')} (D)` },
    );
    this.element.append(
      this.frame,
      element(
        'div',
        { class: 'beneath' },
        this.status,
        element('label', {}, element('span', { class: 'unseen' }, word('view')), this.choice),
        this.detections,
      ),
      this.note,
    );
  }

  /** Shows what there is, and says why there is not more. */
  private arrange(): void {
    const { episode, beside } = this;
    if (!episode) return;
    const own = this.known.get(episode.id);
    const other = beside === undefined ? undefined : this.known.get(beside);
    const motions = [own, other].flatMap((one) => (isMotion(one) ? [one] : []));
    const shown = isMotion(own) ? motions : [];
    const notes: string[] = [];
    if (!episode.scene) {
      if (episode.noScene !== null) notes.push(word('sceneProblem', episode.noScene));
      else notes.push(word(episode.open ? 'sceneRunning' : 'sceneMissing'));
    } else if (own === 'asked') notes.push(word('sceneLoading'));
    else if (own && 'problem' in own) notes.push(word('sceneProblem', own.problem));
    if (other && other !== 'asked' && 'problem' in other)
      notes.push(word('besideProblem', this.attemptOf(beside ?? ''), other.problem));
    this.element.classList.toggle('empty', shown.length === 0);
    if (shown.length > 0) {
      this.view ??= this.makeView();
      if (this.flat) notes.push(word('noWebgl'));
      if (shown.length !== this.drawn.length || shown.some((one, at) => one !== this.drawn[at])) {
        this.drawn = shown;
        this.view.setMotions(shown);
        this.choice.value = 'free';
      }
    } else this.drawn = [];
    this.note.textContent = notes.join(' ');
  }

  private makeView(): WorldView {
    if (!this.flat && SpaceView.possible()) {
      try {
        return new SpaceView(this.frame, () => this.fallBack());
      } catch {
        // As without WebGL.
      }
    }
    this.flat = true;
    this.choice.disabled = true;
    return new AboveView(this.frame);
  }

  private fallBack(): void {
    if (this.flat) return;
    this.view?.dispose();
    this.flat = true;
    this.choice.disabled = true;
    this.view = new AboveView(this.frame);
    this.drawn = [];
    this.arrange();
    this.view.refit();
  }

  private want(episode: string): void {
    if (this.known.has(episode)) return;
    this.known.set(episode, 'asked');
    this.ask(episode);
  }

  private labelOf(episode: string): string {
    return word('besideLabel', this.attemptOf(episode));
  }

  private attemptOf(id: string): number {
    return this.episode?.group.find(({ episode }) => episode === id)?.attempt ?? this.episode?.attempt ?? 0;
  }
}

function isMotion(known: Known | undefined): known is Motion {
  return typeof known === 'object' && 'track' in known;
}
