/**
 * The byte-level alphabet of GPT-2: every byte has one printable character, so that a vocabulary of byte strings can be
 * written as JSON. Bytes that print as themselves stay; the others take the characters from U+0100 on, in byte order.
 */

const printable = (byte: number) =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);

/** The character of each byte. */
export const BYTE_CHARACTERS: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
})();

const BYTE_OF = new Map(BYTE_CHARACTERS.map((character, byte) => [character, byte]));

/** The bytes of a token written in the alphabet; undefined when a character is not in it. */
export function bytesOfToken(token: string): Uint8Array | undefined {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF.get(token[i]);
    if (byte === undefined) return undefined;
    bytes[i] = byte;
  }
  return bytes;
}
