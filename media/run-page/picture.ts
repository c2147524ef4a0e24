/** A plot as a PNG image of its own: title, curves, and which curve is which. */
import type { Theme } from '../panel/theme.ts';

const TITLE = 34;
const LEGEND = 28;

/** @returns base64 of the PNG file. */
export function pictureOf(canvas: HTMLCanvasElement, title: string, labels: string[], theme: Theme): string {
  const pixels = devicePixelRatio;
  const picture = document.createElement('canvas');
  picture.width = canvas.width;
  picture.height = canvas.height + (TITLE + LEGEND) * pixels;
  const context = picture.getContext('2d');
  if (!context) throw new Error('this browser gives no canvas to draw the image on');
  context.fillStyle = theme.background;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, TITLE * pixels);
  context.scale(pixels, pixels);
  context.textBaseline = 'middle';
  context.fillStyle = theme.foreground;
  context.font = theme.font.replace('12px', 'bold 14px');
  context.fillText(title, 12, TITLE / 2);
  context.font = theme.font;
  const y = picture.height / pixels - LEGEND / 2;
  let x = 12;
  labels.forEach((label, place) => {
    context.fillStyle = theme.curves[place % theme.curves.length];
    context.fillRect(x, y - 2, 18, 4);
    context.fillStyle = theme.foreground;
    context.fillText(label, x + 24, y);
    x += 48 + context.measureText(label).width;
  });
  return picture.toDataURL('image/png').slice('data:image/png;base64,'.length);
}
