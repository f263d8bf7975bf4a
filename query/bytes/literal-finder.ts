/** A sequence of bytes to be looked for. */
export interface Literal {
  /** At least `LITERAL_MIN_BYTES`. */
  readonly bytes: Uint8Array;
  /** ASCII letters of either case are the same. */
  readonly ignoresCase?: boolean;
}

/** Of fewer bytes, two that lie at an even address are not in every place of a literal. */
export const LITERAL_MIN_BYTES = 3;

/** What stands behind a pair of bytes that was met. */
interface Candidate {
  readonly literal: number;
  readonly bytes: Uint8Array;
  readonly ignoresCase: boolean;
  /** Where in the literal the pair stands. */
  readonly offset: number;
}

const PAIRS_PER_BRANCH = 8;
/** Numbers of buckets fit into a byte, and 0 is none: a table of bytes stays in the cache that is nearest. */
const BUCKETS_MAX = 255;
/** Every byte, ASCII letters in lower case. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);
/** The bytes that texts of logs are made of, the commonest first: English letters, digits, what divides them. */
const COMMON = Buffer.from("e taoinrs0dl1c2u.m-pf3:4g5h/6b78w9=y_v,k\"DISAECTRNOPMLBFU'()[]{}xGHVWjqzKXYJQZ");
const COMMONNESS = Uint8Array.from({ length: 256 }, (_, byte) =>
  COMMON.includes(byte) ? COMMON.length - COMMON.indexOf(byte) : 0,
);

/**
 * Looks for many literals in one pass over bytes, two at a time: whatever place a literal is in, of every two neighbours in
 * it one pair lies at an even address, and for both kinds of places the rarest such pair says in a table that a literal may
 * be here. Most that it says so of are ruled out by a third byte. The cost hardly depends on how many literals there are.
 */
export class LiteralFinder {
  readonly #bucketOf = new Uint8Array(1 << 16);
  readonly #buckets: Candidate[][] = [];
  /** By bucket and byte: whether a literal of the bucket has that byte in front of its pair, or behind it. */
  readonly #before = new Uint8Array(1 << 16);
  readonly #behind = new Uint8Array(1 << 16);

  constructor(literals: readonly Literal[]) {
    for (const [literal, { bytes, ignoresCase = false }] of literals.entries()) {
      if (bytes.length < LITERAL_MIN_BYTES) throw new RangeError("a literal is too short to be found");
      const kept = ignoresCase ? bytes.map((byte) => LOWER[byte] ?? 0) : bytes;
      for (const parity of [0, 1]) {
        const offset = rarestPair(kept, parity);
        const candidate = { literal, bytes: kept, ignoresCase, offset };
        for (const pair of pairsAt(kept, offset, ignoresCase)) this.#add(pair, candidate);
      }
    }
  }

  /** Calls `found` with the number and the first byte of each literal in `bytes[start, end)`, hardly out of order. */
  find(bytes: Uint8Array, start: number, end: number, found: (literal: number, at: number) => void): void {
    if (this.#buckets.length === 0) return;
    const { byteOffset } = bytes;
    const pairs = new Uint16Array(bytes.buffer, 0, bytes.buffer.byteLength >>> 1);
    const bucketOf = this.#bucketOf;
    const last = (byteOffset + end) >>> 1;
    let at = (byteOffset + start + 1) >>> 1;
    // Eight at a time, because a branch for each costs more than the look.
    for (; at < last; at += PAIRS_PER_BRANCH) {
      const isRest = at + PAIRS_PER_BRANCH > last;
      if (
        !isRest &&
        ((bucketOf[pairs[at] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 1] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 2] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 3] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 4] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 5] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 6] ?? 0] ?? 0) |
          (bucketOf[pairs[at + 7] ?? 0] ?? 0)) ===
          0
      )
        continue;
      const stop = isRest ? last : at + PAIRS_PER_BRANCH;
      for (let pair = at; pair < stop; pair++) {
        const bucket = bucketOf[pairs[pair] ?? 0] ?? 0;
        if (bucket !== 0) this.#verify(bucket, bytes, pair * 2 - byteOffset, start, end, found);
      }
    }
  }

  #verify(
    bucket: number,
    bytes: Uint8Array,
    at: number,
    start: number,
    end: number,
    found: (literal: number, at: number) => void,
  ): void {
    const row = bucket << 8;
    if (this.#behind[row | (bytes[at + 2] ?? 0)] === 0 && this.#before[row | (bytes[at - 1] ?? 0)] === 0)
      return;
    for (const candidate of this.#buckets[bucket - 1] ?? []) {
      const from = at - candidate.offset;
      if (from >= start && from + candidate.bytes.length <= end && standsAt(bytes, candidate, from))
        found(candidate.literal, from);
    }
  }

  #add(pair: number, candidate: Candidate): void {
    let bucket = this.#bucketOf[pair] ?? 0;
    if (bucket === 0) {
      bucket = this.#buckets.length < BUCKETS_MAX ? this.#buckets.push([]) : (pair % BUCKETS_MAX) + 1;
      this.#bucketOf[pair] = bucket;
    }
    const bucketed = this.#buckets[bucket - 1] ?? [];
    // Two pairs of one candidate may share a bucket.
    if (bucketed.includes(candidate)) return;
    bucketed.push(candidate);
    const { bytes, offset, ignoresCase } = candidate;
    const isBehind = offset + 2 < bytes.length;
    const third = bytes[isBehind ? offset + 2 : offset - 1] ?? 0;
    const thirds = isBehind ? this.#behind : this.#before;
    for (const byte of casesOf(third, ignoresCase)) thirds[(bucket << 8) | byte] = 1;
  }
}

/** Where in the literal, at an even or an odd place, its rarest pair stands. */
function rarestPair(bytes: Uint8Array, parity: number): number {
  const commonness = (at: number): number =>
    (COMMONNESS[bytes[at] ?? 0] ?? 0) * (COMMONNESS[bytes[at + 1] ?? 0] ?? 0);
  let rarest = parity;
  for (let at = parity; at + 1 < bytes.length; at += 2) if (commonness(at) < commonness(rarest)) rarest = at;
  return rarest;
}

/** The pair as a little-endian number, and what it is in other cases. */
function pairsAt(bytes: Uint8Array, at: number, ignoresCase: boolean): number[] {
  const [low, high] = [at, at + 1].map((place) => casesOf(bytes[place] ?? 0, ignoresCase));
  return (low ?? []).flatMap((first) => (high ?? []).map((second) => first | (second << 8)));
}

function casesOf(byte: number, ignoresCase: boolean): number[] {
  const isLetter = byte >= 0x61 && byte <= 0x7a;
  return ignoresCase && isLetter ? [byte, byte - 0x20] : [byte];
}

function standsAt(bytes: Uint8Array, { bytes: literal, ignoresCase }: Candidate, at: number): boolean {
  for (let i = 0; i < literal.length; i++) {
    const byte = bytes[at + i] ?? 0;
    if ((ignoresCase ? LOWER[byte] : byte) !== literal[i]) return false;
  }
  return true;
}
