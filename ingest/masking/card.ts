import type { EncodedTexts } from "../native/block-reader.ts";
import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";
import { TextPlaces } from "./text-places.ts";

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;
/** Digits in groups that single spaces or hyphens divide, as many as a card has at least. */
const RUN = /\d(?:[ -]?\d){12,}/g;
const DIVIDER = /[ -]/;
/** More groups than a card is written in: each digit by itself. */
const GROUPS_MAX = DIGITS_MAX;

/** First digits and lengths of the numbers that card networks give out (ISO/IEC 7812). */
const NETWORKS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|65|64[4-9])/, [16, 17, 18, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^(?:30[0-5]|3095|36|3[89])/, [14, 16, 17, 18, 19]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:50|5[6-9]|6[0-9])/, [13, 14, 15, 16, 17, 18, 19]],
];

/** First digits that tell all networks apart. */
const PREFIX_DIGITS = 4;
/** For each number of so many digits, a bit for each length of the cards that begin with it. */
const LENGTHS_BY_PREFIX = lengthsByPrefix();

/** Made at every start, hence without a list for each of the numbers. */
function lengthsByPrefix(): Uint32Array {
  const lengthsOf = new Uint32Array(10 ** PREFIX_DIGITS);
  for (const [prefix, lengths] of NETWORKS) {
    const bits = lengths.reduce((all, length) => all | (1 << length), 0);
    for (let number = 0; number < lengthsOf.length; number++)
      if (prefix.test(String(number).padStart(PREFIX_DIGITS, "0")))
        lengthsOf[number] = (lengthsOf[number] ?? 0) | bits;
  }
  return lengthsOf;
}

/** Numbers of payment cards whose check digit is right. */
export const CARD: MaskPattern = {
  find: (text) => {
    // Most texts are too short, as are nearly all names.
    if (text.length < DIGITS_MIN) return [];
    const spans: MaskedSpan[] = [];
    RUN.lastIndex = 0;
    for (let run = RUN.exec(text); run !== null; run = RUN.exec(text)) cardsIn(run[0], run.index, spans);
    return spans;
  },
  hint: { look: lookForCards },
};

/** A card begins and ends with a group: in the middle of a longer number there is none. */
function cardsIn(run: string, at: number, spans: MaskedSpan[]): void {
  const groups = run.split(DIVIDER);
  let start = at;
  for (let first = 0; first < groups.length; first++) {
    const last = lastGroup(groups, first);
    const taken = groups.slice(first, Math.max(first, last) + 1);
    // Of every group its digits, and of all but the last what divides them.
    const length = taken.reduce((sum, group) => sum + group.length, taken.length - 1);
    if (last !== -1) spans.push({ start, end: start + length, replacement: "[card]" });
    start += length + 1;
    first += taken.length - 1;
  }
}

/** The last of the groups from `first` on that are a card together, the longest if there are several; -1 when none are. */
function lastGroup(groups: readonly string[], first: number): number {
  let digits = "";
  let found = -1;
  for (let last = first; last < Math.min(groups.length, first + GROUPS_MAX); last++) {
    digits += groups[last];
    if (digits.length > DIGITS_MAX) break;
    if (isCard(digits)) found = last;
  }
  return found;
}

function isCard(digits: string): boolean {
  if (digits.length < DIGITS_MIN || !hasCheckDigit(digits)) return false;
  return isGivenOut(Number(digits.slice(0, PREFIX_DIGITS)), digits.length);
}

/** Whether some network gives out numbers of so many digits that begin with these. */
function isGivenOut(prefix: number, digits: number): boolean {
  return ((LENGTHS_BY_PREFIX[prefix] ?? 0) & (1 << digits)) !== 0;
}

/** ISO/IEC 7812-1, annex B: every second digit from the right counts twice, and the sum of all digits ends in 0. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : (DOUBLED[digit] ?? 0);
  }
  return sum % 10 === 0;
}

/** What a digit adds that counts twice. */
const DOUBLED = Uint8Array.of(0, 2, 4, 6, 8, 1, 3, 5, 7, 9);

const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;
const HYPHEN = 0x2d;
/** 1 for two bytes, as a little-endian number, that can stand side by side in a run: a divider never stands beside another. */
const IS_OF_RUN = pairsOfRun();

function pairsOfRun(): Uint8Array {
  const isOfRun = new Uint8Array(1 << 16);
  const digits = Array.from({ length: 10 }, (_, digit) => ZERO + digit);
  for (const first of [...digits, SPACE, HYPHEN])
    for (const second of [...digits, SPACE, HYPHEN])
      if (isDigit(first) || isDigit(second)) isOfRun[first | (second << 8)] = 1;
  return isOfRun;
}

/** Pairs at even addresses that lie in every run, whatever its own address: of these bytes and one on either side it is made. */
const RUN_MIN_PAIRS = 6;

/** The texts that may have a card. */
function lookForCards(texts: EncodedTexts, hit: (text: number) => void): void {
  const { bytes, start, end } = texts;
  const { byteOffset } = bytes;
  const pairs = new Uint16Array(bytes.buffer, 0, bytes.buffer.byteLength >>> 1);
  const places = new TextPlaces(texts);
  const stop = (byteOffset + end + 1) >>> 1;
  // Of so many neighbours that a run has at least, one is looked at first: in every run one of these lies.
  for (let at = ((byteOffset + start) >>> 1) + RUN_MIN_PAIRS - 1; at < stop; at += RUN_MIN_PAIRS) {
    if (IS_OF_RUN[pairs[at] ?? 0] === 0) continue;
    let first = at;
    while (IS_OF_RUN[pairs[first - 1] ?? 0] === 1) first--;
    let next = at + 1;
    while (IS_OF_RUN[pairs[next] ?? 0] === 1) next++;
    if (next - first >= RUN_MIN_PAIRS)
      lookInRun(
        texts,
        places,
        Math.max(start, first * 2 - 1 - byteOffset),
        Math.min(end, next * 2 + 1 - byteOffset),
        hit,
      );
    // On behind what is no part of the run, all of which is looked at now.
    at = next;
  }
}

/** A run may go on from one text into the next, over the length that stands between them. */
function lookInRun(
  texts: EncodedTexts,
  places: TextPlaces,
  from: number,
  to: number,
  hit: (text: number) => void,
): void {
  const { bytes } = texts;
  // Most runs are dates and times, of too few digits: where texts lie is not asked for them.
  let digits = 0;
  for (let at = from; at < to; at++) if (isDigit(bytes[at] ?? 0)) digits++;
  if (digits < DIGITS_MIN) return;
  const { starts, ends } = texts;
  for (let text = Math.max(0, places.textAt(from)); (starts[text] ?? to) < to; text++)
    if (mayHoldCard(bytes, Math.max(from, starts[text] ?? to), Math.min(to, ends[text] ?? to))) hit(text);
}

/** Whether some of the groups of digits are a number that a network has given out, whose check digit is right. */
function mayHoldCard(bytes: Uint8Array, from: number, to: number): boolean {
  for (let first = from; to - first >= DIGITS_MIN; first = endOfGroup(bytes, first, to) + 1) {
    const network = (bytes[first] ?? 0) - ZERO;
    if (network >= NETWORK_MIN && network <= NETWORK_MAX && mayBeginCard(bytes, first, to)) return true;
  }
  return false;
}

/** First digits of all networks. */
const NETWORK_MIN = 2;
const NETWORK_MAX = 6;

function mayBeginCard(bytes: Uint8Array, first: number, to: number): boolean {
  let digits = 0;
  let prefix = 0;
  // Sums in which the latest digit counts once, or twice, for every second one before it counts twice.
  let once = 0;
  let twice = 0;
  for (let group = first; group < to; ) {
    const end = endOfGroup(bytes, group, to);
    if (digits + end - group > DIGITS_MAX) return false;
    for (let i = group; i < end; i++) {
      const digit = (bytes[i] ?? 0) - ZERO;
      if (digits + i - group < PREFIX_DIGITS) prefix = prefix * 10 + digit;
      const sum = twice + digit;
      twice = once + (DOUBLED[digit] ?? 0);
      once = sum;
    }
    digits += end - group;
    if (digits >= DIGITS_MIN && once % 10 === 0 && isGivenOut(prefix, digits)) return true;
    group = end + 1;
  }
  return false;
}

function endOfGroup(bytes: Uint8Array, at: number, to: number): number {
  let end = at;
  while (end < to && isDigit(bytes[end] ?? 0)) end++;
  return end;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
