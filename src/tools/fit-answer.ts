import { CUT_ITEMS_ENOUGH, CUT_TEXT_CHARS } from "./limits.ts";

interface FittedAnswer {
  readonly value: unknown;
  /** Whether something was left out. */
  readonly isCut: boolean;
  /** How many elements the longest lists still have; null where no list was cut. */
  readonly items: number | null;
}

/**
 * A value as JSON of at most so many bytes: whole where it fits, else with its longest texts cut, else with as many
 * elements of its lists as fit. Cut texts end with `…`. What fits in no other way is the beginning of its JSON, as a text.
 */
export function fitAnswer(value: unknown, maxBytes: number): FittedAnswer {
  if (bytesOf(value) <= maxBytes) return { value, isCut: false, items: null };
  for (const chars of CUT_TEXT_CHARS) {
    const shortened = cut(value, Number.POSITIVE_INFINITY, chars);
    if (chars === CUT_TEXT_CHARS[0] && bytesOf(shortened) <= maxBytes)
      return { value: shortened, isCut: true, items: null };
    const items = mostItems(value, chars, maxBytes);
    const isEnough = items >= CUT_ITEMS_ENOUGH || chars === CUT_TEXT_CHARS.at(-1);
    if (items > 0 && isEnough) return { value: cut(value, items, chars), isCut: true, items };
  }
  // A character of JSON takes at most six bytes more when it is written as a text once more, and three as UTF-8.
  return { value: `${JSON.stringify(value).slice(0, Math.floor(maxBytes / 6))}…`, isCut: true, items: null };
}

/** The largest number of elements with which it fits; 0 where not even one does. */
function mostItems(value: unknown, chars: number, maxBytes: number): number {
  const fits = (items: number): boolean => bytesOf(cut(value, items, chars)) <= maxBytes;
  let low = 0;
  let high = 1;
  // From below, so that nothing much larger than the bound is ever written.
  while (high <= maxBytes && fits(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function cut(value: unknown, items: number, chars: number): unknown {
  if (typeof value === "string")
    return value.length <= chars ? value : `${value.slice(0, chars).toWellFormed()}…`;
  if (Array.isArray(value)) return value.slice(0, items).map((item: unknown) => cut(item, items, chars));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, items, chars)]));
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
