import type { MaskPattern } from "./mask-pattern.ts";

type Hint = MaskPattern["hint"];

/** Places of any of some texts, which are looked for one after the other: each runs at gigabytes a second. */
export function literalsHint(literals: readonly string[]): Hint {
  const needles = literals.map((literal) => Buffer.from(literal));
  return (bytes, hit) => {
    for (const needle of needles)
      for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length)) hit(at);
  };
}

const ZERO = 0x30;
const NINE = 0x39;
const SPACE = 0x20;
const HYPHEN = 0x2d;

/**
 * Places inside runs of at least `minDigits` digits, which single spaces or hyphens may divide, one in every part of a run that
 * has so many. A run may go on from one text into the next, over the length that stands between them. Hardly more than one
 * byte in so many is looked at.
 */
export function digitsHint(minDigits: number): Hint {
  // Two of the bytes that are looked at lie in every run.
  const stride = Math.floor((minDigits - 1) / 2);
  return (bytes, hit) => {
    const last = bytes.length - 1;
    let wasWithin = false;
    for (let at = 0; at < last; at += stride) {
      // A divider never stands beside another, so that of two neighbours in a run one is a digit.
      const isWithin = isDigit(bytes[at] ?? 0) || isDigit(bytes[at + 1] ?? 0);
      if (!isWithin || !wasWithin) {
        wasWithin = isWithin;
        continue;
      }
      const [start, end, digits] = runAround(bytes, isDigit(bytes[at] ?? 0) ? at : at + 1);
      if (digits >= minDigits) for (let place = start; place < end; place += stride) hit(place);
      // On behind the run, all of which has been looked at.
      at = Math.max(at, end - stride);
      wasWithin = false;
    }
  };
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** The run that the digit at `at` belongs to: where it begins and ends, and its digits. */
function runAround(bytes: Buffer, at: number): [start: number, end: number, digits: number] {
  let start = at;
  let end = at + 1;
  let digits = 1;
  for (let i = at - 1; i >= 0; i--)
    if (isDigit(bytes[i] ?? 0)) {
      digits++;
      start = i;
    } else if (!isDivider(bytes[i]) || !isDigit(bytes[i - 1] ?? 0)) break;
  for (let i = end; i < bytes.length; i++)
    if (isDigit(bytes[i] ?? 0)) {
      digits++;
      end = i + 1;
    } else if (!isDivider(bytes[i]) || !isDigit(bytes[i + 1] ?? 0)) break;
  return [start, end, digits];
}

function isDivider(byte: number | undefined): boolean {
  return byte === SPACE || byte === HYPHEN;
}
