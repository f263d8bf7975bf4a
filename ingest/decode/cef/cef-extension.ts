const SPACE = 0x20;
/** Numbers for each pair: where its key begins and ends, where its value begins and ends. */
const PLACES_PER_PAIR = 4;
const INITIAL_PAIRS = 64;
/** Pairs of one message; an entry keeps far fewer. What comes behind them belongs to the value of the last. */
const PAIRS_MAX_COUNT = 4096;

/** What a byte means: part of a key, a blank, an equals sign, or anything else. */
const KEY_BYTE = 0;
const BLANK = 1;
const EQUALS = 2;
const OTHER = 3;
const CLASSES = new Uint8Array(256).fill(OTHER);
/** The characters of keys: those of the standard, and those that products use besides. */
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]")
  CLASSES[character.charCodeAt(0)] = KEY_BYTE;
CLASSES[SPACE] = BLANK;
CLASSES[0x3d] = EQUALS;

/**
 * The pairs of an extension, as ranges of the message. A key is a word that stands, behind a blank or at the start, in
 * front of an equals sign; so a value may have blanks, and equals signs behind anything that is no such word
 * (`?a=b&c=d`). The blank in front of a key belongs to no value. Reused from message to message.
 */
export class CefExtension {
  count = 0;
  /** Text in front of the first key, which belongs to none: `[strayStart, strayEnd)`. */
  strayStart = 0;
  strayEnd = 0;
  #places = new Int32Array(INITIAL_PAIRS * PLACES_PER_PAIR);

  read(source: Uint8Array, from: number, to: number): void {
    const end = endOfContent(source, from, to);
    let count = 0;
    let wordAt = from;
    let isWord = true;
    this.strayStart = from;
    this.strayEnd = end;
    for (let at = from; at < end; at++) {
      const meaning = CLASSES[source[at] ?? 0];
      if (meaning === KEY_BYTE) continue;
      if (meaning === BLANK) {
        wordAt = at + 1;
        isWord = true;
        continue;
      }
      if (meaning === EQUALS && isWord && at > wordAt && count < PAIRS_MAX_COUNT)
        this.#open(count++, wordAt, at);
      isWord = false;
    }
    while (this.strayEnd > from && (source[this.strayEnd - 1] ?? 0) <= SPACE) this.strayEnd--;
    if (count > 0) this.#places[count * PLACES_PER_PAIR - 1] = end;
    this.count = count;
  }

  keyStart(pair: number): number {
    return this.#places[pair * PLACES_PER_PAIR] ?? 0;
  }

  keyEnd(pair: number): number {
    return this.#places[pair * PLACES_PER_PAIR + 1] ?? 0;
  }

  valueStart(pair: number): number {
    return this.#places[pair * PLACES_PER_PAIR + 2] ?? 0;
  }

  valueEnd(pair: number): number {
    return this.#places[pair * PLACES_PER_PAIR + 3] ?? 0;
  }

  #open(pair: number, keyAt: number, equalsAt: number): void {
    const place = pair * PLACES_PER_PAIR;
    if (place + PLACES_PER_PAIR > this.#places.length) {
      const grown = new Int32Array(this.#places.length * 2);
      grown.set(this.#places);
      this.#places = grown;
    }
    if (pair === 0) this.strayEnd = keyAt;
    else this.#places[place - 1] = keyAt - 1;
    this.#places[place] = keyAt;
    this.#places[place + 1] = equalsAt;
    this.#places[place + 2] = equalsAt + 1;
  }
}

/** White space at the very end belongs to the line, not to the last value. */
function endOfContent(source: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && (source[end - 1] ?? 0) <= SPACE) end--;
  return end;
}
