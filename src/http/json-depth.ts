const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * True when arrays and objects in JSON text nest deeper than `maxDepth`. One pass over the UTF-8 bytes before they are
 * parsed, because the parser recurses. Of text that is not JSON it says something, which the parser then corrects.
 */
export function isNestedDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case QUOTE:
        i = endOfString(json, i + 1);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (++depth > maxDepth) return true;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
    }
  }
  return false;
}

/** The offset of the quote that ends the string that begins at `start`, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let i = start;
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i;
}
