import { digitsHint } from "./hints.ts";
import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;
/** Digits in groups that single spaces or hyphens divide, as many as a card has at least. */
const RUN = /\d(?:[ -]?\d){12,}/g;
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

/** Numbers of payment cards whose check digit is right. */
export const CARD: MaskPattern = {
  find: (text) => [...text.matchAll(RUN)].flatMap((run) => cardsIn(run[0], run.index)),
  hint: digitsHint(DIGITS_MIN),
};

/** A card begins and ends with a group: in the middle of a longer number there is none. */
function cardsIn(run: string, at: number): MaskedSpan[] {
  const groups = [...run.matchAll(/\d+/g)];
  const digits = groups.map(([group]) => group);
  const spans: MaskedSpan[] = [];
  for (let first = 0; first < groups.length; first++) {
    const last = lastGroup(digits, first);
    const [from, to] = [groups[first], groups[last]];
    if (from === undefined || to === undefined) continue;
    spans.push({ start: at + from.index, end: at + to.index + to[0].length, replacement: "[card]" });
    first = last;
  }
  return spans;
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
  return NETWORKS.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits));
}

/** ISO/IEC 7812-1, annex B: every second digit from the right counts twice, and the sum of all digits ends in 0. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
  }
  return sum % 10 === 0;
}
