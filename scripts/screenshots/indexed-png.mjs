// PNG with a palette: a screenshot of an editor has few colours, and takes a third so.

import { crc32, deflateSync } from 'node:zlib';
import * as gifenc from 'gifenc';
import { PNG } from 'pngjs';

// A bundler takes its module, Node its CommonJS build.
const { applyPalette, quantize } = 'quantize' in gifenc ? gifenc : gifenc.default;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * @param bytes any PNG without transparency.
 * @returns the same picture with at most 256 colours.
 */
export function indexedPng(bytes) {
  const { width, height, data } = PNG.sync.read(bytes);
  const palette = quantize(data, 256);
  const indices = applyPalette(data, palette);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, by palette.
  head.set([8, 3, 0, 0, 0], 8);
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, data) {
  const whole = Buffer.alloc(12 + data.length);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  data.copy(whole, 8);
  whole.writeUInt32BE(crc32(whole.subarray(4, 8 + data.length)), 8 + data.length);
  return whole;
}
