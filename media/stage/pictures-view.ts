/** The pictures that the planner was shown, with what was detected on them. */
import type { StageEpisode, StageImage, StagePosition } from '../../extension/replay/stage/data.ts';
import type { ToPage } from '../../extension/replay/stage/messages.ts';
import { element } from '../panel/elements.ts';
import { percent } from '../panel/formats.ts';
import { currentTheme } from '../panel/theme.ts';
import { word } from './words.ts';

/** Small pictures are drawn larger, so that names on them can be read. Pixels across. */
const WIDE = 384;
/** Pictures that are kept unpacked. */
const KEPT = 64;

export class PicturesView {
  readonly element = element('section', { id: 'pictures', 'aria-labelledby': 'title-pictures' });
  private readonly ask: (sha: string) => void;
  /** By hash; `null` while it is on its way. */
  private readonly known = new Map<string, ImageBitmap | { problem: string } | null>();
  private shown: { image: StageImage; canvas: HTMLCanvasElement; note: HTMLElement }[] = [];
  private key = '';

  /** @param ask for a picture by its hash. */
  constructor(ask: (sha: string) => void) {
    this.ask = ask;
  }

  show({ id, calls }: StageEpisode, { call }: StagePosition): void {
    const from = calls.findLastIndex(({ images }, at) => at <= call && images.length > 0);
    const images = from < 0 ? [] : calls[from].images;
    const key = JSON.stringify([id, from, call, images]);
    if (key === this.key) return;
    this.key = key;
    const title = element('h2', { id: 'title-pictures' }, word('pictures'));
    const note =
      images.length === 0 ? word('noPictures') : from === call ? undefined : word('earlierPictures', from + 1);
    this.element.replaceChildren(title, ...(note === undefined ? [] : [element('p', { class: 'note' }, note)]));
    this.shown = images.map((image, index) => {
      const name = word('picture', index + 1, image.label);
      const canvas = element('canvas', { role: 'img', 'aria-label': name, width: WIDE, height: WIDE });
      const about = element('figcaption', {}, name, ...seenWords(image));
      const state = element('p', { class: 'note' }, word('pictureLoading'));
      this.element.append(
        element('figure', { class: from === call ? 'picture' : 'picture earlier' }, canvas, state, about),
      );
      if (!this.known.has(image.sha)) {
        this.known.set(image.sha, null);
        this.ask(image.sha);
      }
      return { image, canvas, note: state };
    });
    this.redress();
  }

  /** A picture has come. */
  async took({ sha, mediaType, base64, problem }: Extract<ToPage, { type: 'image' }>): Promise<void> {
    if (base64 === null) this.known.set(sha, { problem: problem ?? '' });
    else {
      try {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        this.known.set(sha, await createImageBitmap(new Blob([bytes], { type: mediaType })));
      } catch (error) {
        this.known.set(sha, { problem: (error as Error).message });
      }
    }
    for (const [oldest, one] of this.known) {
      if (this.known.size <= KEPT) break;
      if (one === null || this.shown.some(({ image }) => image.sha === oldest)) continue;
      if ('close' in one) one.close();
      this.known.delete(oldest);
    }
    this.redress();
  }

  /** Draws them anew, in the colours of the moment. */
  redress(): void {
    for (const { image, canvas, note } of this.shown) {
      const picture = this.known.get(image.sha) ?? null;
      note.hidden = picture !== null && !('problem' in picture);
      canvas.hidden = !note.hidden;
      if (picture === null) continue;
      if ('problem' in picture) note.textContent = word('pictureMissing', picture.problem);
      else drawPicture(canvas, picture, image);
    }
  }
}

function drawPicture(canvas: HTMLCanvasElement, picture: ImageBitmap, { detections }: StageImage): void {
  const scale = Math.max(1, Math.round(WIDE / picture.width));
  canvas.width = picture.width * scale;
  canvas.height = picture.height * scale;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.imageSmoothingEnabled = scale === 1;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const theme = currentTheme();
  const size = Math.max(11, Math.round(canvas.width / 30));
  context.font = theme.font.replace('12px', `${size}px`);
  context.textBaseline = 'middle';
  context.lineWidth = Math.max(2, canvas.width / 200);
  for (const { name, confidence, box } of detections) {
    const [left, top, right, bottom] = box.map((pixel) => pixel * scale);
    context.strokeStyle = theme.curves[1];
    context.strokeRect(left, top, right - left, bottom - top);
    const text = `${name} ${percent(confidence)}`;
    const wide = context.measureText(text).width + 6;
    const x = Math.max(0, Math.min(canvas.width - wide, left));
    const y = top >= size + 4 ? top - size - 4 : Math.min(canvas.height - size - 4, bottom);
    context.fillStyle = theme.background;
    context.fillRect(x, y, wide, size + 4);
    context.fillStyle = theme.foreground;
    context.fillText(text, x + 3, y + size / 2 + 2);
  }
}

function seenWords({ detections }: StageImage): HTMLElement[] {
  if (detections.length === 0) return [];
  const seen = detections.map(({ name, confidence }) => word('seenOne', name, percent(confidence))).join(', ');
  return [element('p', { class: 'note' }, word('seenOn', seen))];
}
