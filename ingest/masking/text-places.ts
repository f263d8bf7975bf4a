import type { EncodedTexts } from "../native/block-reader.ts";

/** Texts that are tried one by one before the place is looked for among all. */
const NEAR_TEXTS = 8;

/** Says of places in the bytes of texts which text they are in; quickest for places in ascending order. */
export class TextPlaces {
  readonly #texts: EncodedTexts;
  #latest = 0;

  constructor(texts: EncodedTexts) {
    this.#texts = texts;
  }

  /** The last text that begins at or before the place; -1 before the first. */
  textAt(place: number): number {
    const { starts } = this.#texts;
    let text = this.#latest;
    if ((starts[text] ?? place + 1) <= place)
      for (const last = Math.min(text + NEAR_TEXTS, starts.length - 1); text <= last; text++)
        if (text === starts.length - 1 || place < (starts[text + 1] ?? 0)) {
          this.#latest = text;
          return text;
        }
    const found = firstAbove(starts, place) - 1;
    this.#latest = Math.max(0, found);
    return found;
  }
}

/** The first index whose value is above `value`; the length where none is. */
export function firstAbove(ascending: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
