import type { Position } from "./position.ts";

/** What was made of the input so far. Only ever grows during a run. */
export interface Tally {
  /** Lines that hold something. */
  lines: number;
  /** Entries made of them: more than lines where lines were split. */
  entries: number;
  /** Lines that were entries already. */
  nativeLines: number;
  emptyLines: number;
  /** Entries with bytes that are not UTF-8, each replaced by U+FFFD. */
  invalidUtf8Entries: number;
  /** Lines longer than a message may be. */
  splitLines: number;
}

export function emptyTally(): Tally {
  return { lines: 0, entries: 0, nativeLines: 0, emptyLines: 0, invalidUtf8Entries: 0, splitLines: 0 };
}

/** A place in the input and what was made of everything before it in this run. */
export interface Checkpoint {
  position: Readonly<Position>;
  tally: Readonly<Tally>;
}
