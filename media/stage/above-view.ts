/** The world from above, on a plain canvas: for editors without WebGL. The robot's base is at the bottom, x goes up. */
import type { StageDetection, StageGeom } from '../../extension/replay/stage/data.ts';
import { poseAt, product, type Quaternion, turned } from '../../protocol/poses.ts';
import { currentTheme } from '../panel/theme.ts';
import { heldAt, type Motion } from './motion.ts';
import type { WorldView } from './world-view.ts';

/** Metres that are shown of a world, across. */
const ACROSS = 1.5;
const MIDDLE_X = 0.35;

/** A shape as seen from above: its outline in the world's frame, and how high it is. */
interface Outline {
  points: [number, number][];
  top: number;
  fill: string;
  held: boolean;
}

export class AboveView implements WorldView {
  readonly element: HTMLCanvasElement;
  private readonly sizes: ResizeObserver;
  private motions: readonly Motion[] = [];
  private time = 0;
  private marked: readonly StageDetection[] = [];
  private nearer = 1;

  constructor(into: HTMLElement) {
    this.element = document.createElement('canvas');
    this.element.tabIndex = 0;
    this.element.setAttribute('role', 'img');
    into.append(this.element);
    this.sizes = new ResizeObserver(() => this.refit());
    this.sizes.observe(into);
  }

  setMotions(motions: readonly Motion[]): void {
    this.motions = motions;
    this.draw(this.time, this.marked);
  }

  draw(time: number, detections: readonly StageDetection[]): void {
    this.time = time;
    this.marked = detections;
    const context = this.element.getContext('2d');
    if (!context) return;
    const { width, height } = this.element;
    const theme = currentTheme();
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    const worlds = Math.max(1, this.motions.length);
    const scale = (Math.min(width / worlds, height) / ACROSS) * this.nearer;
    this.motions.forEach((motion, place) => {
      const centre = (width * (place + 0.5)) / worlds;
      // y of the world goes to the left.
      const at = ([x, y]: readonly [number, number]): [number, number] => [
        centre - y * scale,
        height / 2 - (x - MIDDLE_X) * scale,
      ];
      const outlines = motion.geoms.map((geom) => outlineOf(motion, geom, time)).sort((a, b) => a.top - b.top);
      for (const { points, fill, held } of outlines) {
        context.beginPath();
        for (const point of points) context.lineTo(...at(point));
        context.closePath();
        context.fillStyle = fill;
        context.fill();
        context.lineWidth = held ? 4 : 1;
        context.strokeStyle = held ? theme.curves[1] : '#00000066';
        context.stroke();
      }
      context.font = theme.font.replace('12px', `${12 * devicePixelRatio}px`);
      context.fillStyle = theme.foreground;
      if (worlds > 1) context.fillText(motion.label, centre - width / worlds / 2 + 12, 24 * devicePixelRatio);
      if (place > 0) return;
      for (const { name, position, size } of detections) {
        const [x, y] = at([position[0], position[1]]);
        const [w, h] = [size[1] * scale, size[0] * scale];
        context.strokeStyle = theme.curves[1];
        context.lineWidth = 2;
        context.strokeRect(x - w / 2, y - h / 2, w, h);
        context.fillStyle = theme.background;
        const wide = context.measureText(name).width + 6;
        context.fillRect(x - wide / 2, y - h / 2 - 15 * devicePixelRatio, wide, 14 * devicePixelRatio);
        context.fillStyle = theme.foreground;
        context.fillText(name, x - wide / 2 + 3, y - h / 2 - 4 * devicePixelRatio);
      }
    });
  }

  refit(): void {
    const { clientWidth, clientHeight } = this.element.parentElement ?? this.element;
    this.element.width = clientWidth * devicePixelRatio;
    this.element.height = clientHeight * devicePixelRatio;
    this.draw(this.time, this.marked);
  }

  look(): void {
    this.nearer = 1;
    this.draw(this.time, this.marked);
  }

  turn(): void {
    // There is but one view.
  }

  zoom(factor: number): void {
    this.nearer = Math.max(0.3, Math.min(5, this.nearer / factor));
    this.draw(this.time, this.marked);
  }

  dispose(): void {
    this.sizes.disconnect();
    this.element.remove();
  }
}

function outlineOf(motion: Motion, geom: StageGeom, time: number): Outline {
  const body = poseAt(motion.track, time, geom.body);
  const rotation = product(body.quaternion, geom.quaternion as Quaternion);
  const place = turned(body.quaternion, geom.position).map((x, k) => x + body.position[k]);
  const corners = cornersOf(geom).map((corner) => turned(rotation, corner).map((x, k) => x + place[k]));
  const [r, g, b, a] = geom.colour;
  const byte = (share: number) => Math.round(255 * share);
  return {
    points: hull(corners.map(([x, y]) => [x, y])),
    top: Math.max(...corners.map(([, , z]) => z)),
    fill: `rgb(${byte(r)} ${byte(g)} ${byte(b)} / ${a})`,
    held: heldAt(motion, time) === motion.bodies[geom.body],
  };
}

/** Points whose convex hull is the shape, near enough for a drawing. */
function cornersOf({ kind, size }: StageGeom): [number, number, number][] {
  const [a = 0, b = 0, c = 0] = size;
  const signs = [-1, 1];
  if (kind === 'plane')
    return signs.flatMap((u) => signs.map((v) => [u * (a || 5), v * (b || 5), 0] as [number, number, number]));
  if (kind === 'box')
    return signs.flatMap((u) =>
      signs.flatMap((v) => signs.map((w) => [u * a, v * b, w * c] as [number, number, number])),
    );
  const half = kind === 'sphere' ? 0 : b;
  const round =
    kind === 'cylinder'
      ? [[1, 0]]
      : [
          [1, 0],
          [Math.SQRT1_2, Math.SQRT1_2],
          [0, 1],
        ];
  return Array.from({ length: 16 }, (_, k) => (k * Math.PI) / 8).flatMap((angle) =>
    signs.flatMap((side) =>
      round.map(([wide, high]): [number, number, number] => [
        a * wide * Math.cos(angle),
        a * wide * Math.sin(angle),
        side * (half + a * high),
      ]),
    ),
  );
}

/** Convex hull, counter-clockwise (Andrew's monotone chain). */
function hull(points: [number, number][]): [number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (all: [number, number][]) => {
    const kept: [number, number][] = [];
    for (const point of all) {
      while (kept.length >= 2 && cross(kept[kept.length - 2], kept[kept.length - 1], point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function cross(o: [number, number], a: [number, number], b: [number, number]): number {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}
