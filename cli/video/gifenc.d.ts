/** The package ships no types; what is used of it. */
declare module 'gifenc' {
  type Palette = number[][];
  interface GifEncoder {
    /** @param delay milliseconds that the frame is shown. */
    writeFrame(
      index: Uint8Array,
      width: number,
      height: number,
      options: { palette?: Palette; delay?: number; repeat?: number },
    ): void;
    finish(): void;
    /** All that was written. */
    bytes(): Uint8Array;
  }
  export function GIFEncoder(): GifEncoder;
  /** @param rgba four bytes a pixel. */
  export function quantize(rgba: Uint8Array, colours: number, options?: { format?: 'rgb565' | 'rgb444' }): Palette;
  export function applyPalette(rgba: Uint8Array, palette: Palette, format?: 'rgb565' | 'rgb444'): Uint8Array;
}
