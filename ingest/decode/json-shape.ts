const QUOTE = '"';
const BACKSLASH = 0x5c;

/**
 * Values of one JSON text: parsing takes up to a hundred times the memory of a text of nothing but brackets, and a
 * body of 20 MiB that says something has far fewer.
 */
const MAX_VALUES = 4_000_000;

/**
 * What forbids to parse a JSON text: arrays and objects in it nest more than `maxDepth` levels, or there are too many
 * values. Null when nothing does; of a text that is not JSON it says something or nothing.
 */
export function findShapeFault(text: string, maxDepth: number): string | null {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at + 1);
        break;
      case 0x2c:
        values++;
        break;
      case 0x5b:
      case 0x7b:
        values++;
        if (++depth > maxDepth) return tooDeep(maxDepth);
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
    if (values > MAX_VALUES) return `has more than ${MAX_VALUES} values`;
  }
  return null;
}

export function tooDeep(maxDepth: number): string {
  return `nests deeper than ${maxDepth} levels`;
}

/** Where the string that begins at `start` has its closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf(QUOTE, start); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (at - escapes > start && text.charCodeAt(at - escapes - 1) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
