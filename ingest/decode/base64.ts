/** The number that a character of the alphabet stands for (RFC 4648, section 4); NONE for any other. */
const NONE = 0x40;
const NUMBERS = new Uint8Array(256).fill(NONE);
for (const [number, character] of [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
].entries())
  NUMBERS[character.charCodeAt(0)] = number;
const PADDING = 0x3d;

/** Whether `source[start, end)` is base64 with its padding, without anything else. */
export function isBase64(source: Uint8Array, start: number, end: number): boolean {
  if ((end - start) % 4 !== 0) return false;
  const dataEnd = withoutPadding(source, start, end);
  let seen = 0;
  for (let at = start; at < dataEnd; at++) seen |= NUMBERS[source[at] ?? 0] ?? NONE;
  return seen < NONE;
}

/**
 * Writes what the base64 in `source[start, end)` stands for to `target` from `to` on, and answers where it ends. The target may be the
 * source itself where nothing is written beyond what was read: bytes go out no faster than characters come in.
 */
export function decodeBase64(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  to: number,
): number {
  const dataEnd = withoutPadding(source, start, end);
  let out = to;
  let at = start;
  for (; at + 4 <= dataEnd; at += 4) {
    const group =
      ((NUMBERS[source[at] ?? 0] ?? 0) << 18) |
      ((NUMBERS[source[at + 1] ?? 0] ?? 0) << 12) |
      ((NUMBERS[source[at + 2] ?? 0] ?? 0) << 6) |
      (NUMBERS[source[at + 3] ?? 0] ?? 0);
    target[out++] = group >> 16;
    target[out++] = group >> 8;
    target[out++] = group;
  }
  // Two characters are a byte, three are two.
  const rest = dataEnd - at;
  if (rest < 2) return out;
  const [first, second, third] = [0, 1, 2].map((i) => (i < rest ? (NUMBERS[source[at + i] ?? 0] ?? 0) : 0));
  const group = ((first ?? 0) << 18) | ((second ?? 0) << 12) | ((third ?? 0) << 6);
  target[out++] = group >> 16;
  if (rest === 3) target[out++] = group >> 8;
  return out;
}

/** Where the characters end that are no padding. */
function withoutPadding(source: Uint8Array, start: number, end: number): number {
  let dataEnd = end;
  while (dataEnd > start && end - dataEnd < 2 && source[dataEnd - 1] === PADDING) dataEnd--;
  return dataEnd;
}
