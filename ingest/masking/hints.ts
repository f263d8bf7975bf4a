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
/** How far apart the bytes are that are looked at. */
const STRIDE = 5;

/** Places inside runs of at least `minDigits` digits, which single spaces or hyphens may divide. */
export function digitsHint(minDigits: number): Hint {
  const samples = Math.floor((minDigits - 1) / STRIDE);
  return (bytes, hit) => {
    const end = bytes.length - 1;
    let streak = 0;
    for (let at = 0; at < end; at += STRIDE) {
      // A divider never stands beside another, so that of two neighbours in a run one is a digit.
      const isWithin = isDigit(bytes[at] ?? 0) || isDigit(bytes[at + 1] ?? 0);
      streak = isWithin ? streak + 1 : 0;
      if (streak < samples) continue;
      if (hasDigits(bytes, isDigit(bytes[at] ?? 0) ? at : at + 1, minDigits)) hit(at);
    }
  };
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Whether the run that the digit at `at` belongs to has so many digits. */
function hasDigits(bytes: Buffer, at: number, minDigits: number): boolean {
  return countDigits(bytes, at, -1, minDigits) + countDigits(bytes, at, 1, minDigits) > minDigits;
}

/** Digits from `at` on in one direction, itself included, up to `max`. */
function countDigits(bytes: Buffer, at: number, direction: 1 | -1, max: number): number {
  let digits = 0;
  for (let i = at; digits < max; i += direction) {
    const byte = bytes[i];
    if (byte === undefined) break;
    if (isDigit(byte)) digits++;
    else if ((byte !== SPACE && byte !== HYPHEN) || !isDigit(bytes[i + direction] ?? 0)) break;
  }
  return digits;
}
