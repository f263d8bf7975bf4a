/** Deterministic pseudo-random numbers: the same seed always gives the same data set. */
export interface Random {
  /** An integer in [0, bound). */
  below(bound: number): number;
  /** A number in [0, 1). */
  unit(): number;
}

/** The mulberry32 generator. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { unit, below: (bound) => Math.floor(unit() * bound) };
}

/** `length` digits (or hex digits) that depend on `seed` alone. */
export function digitsOf(seed: number, length: number, hex: boolean): string {
  let digits = "";
  let state = seed >>> 0;
  while (digits.length < length) {
    state = Math.imul(state ^ (state >>> 16), 0x45d9f3b) + 0x9e3779b9;
    state = Math.imul(state ^ (state >>> 13), 0x3f4d5b2d) >>> 0;
    digits += hex ? state.toString(16).padStart(8, "0") : String(state % 1_000_000).padStart(6, "0");
  }
  return digits.slice(0, length);
}
