/** Words in the drawn world: a small canvas each, turned to the viewer. */
import { CanvasTexture, LinearFilter, Sprite, SpriteMaterial, SRGBColorSpace } from 'three';
import type { Theme } from '../panel/theme.ts';

const PIXELS = 48;
/** Height of a label in the world. Metres. */
const HEIGHT = 0.042;

/** @param grow height as a multiple of the usual one. */
export function labelOf(text: string, theme: Theme, grow = 1): Sprite {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser gives no canvas to draw a label on');
  const font = theme.font.replace('12px', `${PIXELS * 0.62}px`);
  context.font = font;
  canvas.width = Math.ceil(context.measureText(text).width) + PIXELS / 2;
  canvas.height = PIXELS;
  context.fillStyle = theme.background;
  context.globalAlpha = 0.88;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalAlpha = 1;
  context.font = font;
  context.fillStyle = theme.foreground;
  context.textBaseline = 'middle';
  context.fillText(text, PIXELS / 4, PIXELS / 2);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.minFilter = LinearFilter;
  texture.generateMipmaps = false;
  const sprite = new Sprite(new SpriteMaterial({ map: texture, depthTest: false, transparent: true }));
  const height = HEIGHT * grow;
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.renderOrder = 10;
  return sprite;
}
