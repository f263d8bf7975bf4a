import type { ShippedEntry } from "./entry-session.ts";
import type { Position } from "./position.ts";

/** What was made of the input so far. Only ever grows during a run. */
export interface Tally {
  /** Lines that hold something. */
  lines: number;
  /** Entries made of them: more than lines where lines were split. */
  entries: number;
  /** Lines that were entries already. */
  nativeLines: number;
  /** Entries of whose lines more is known than their text. */
  recognisedEntries: number;
  emptyLines: number;
  /** Entries with bytes that are not UTF-8, each replaced by U+FFFD. */
  invalidUtf8Entries: number;
  /** Lines longer than a message may be. */
  splitLines: number;
  /** Entries that are left out because they are older than asked for. */
  olderEntries: number;
}

export function emptyTally(): Tally {
  return {
    lines: 0,
    entries: 0,
    nativeLines: 0,
    recognisedEntries: 0,
    emptyLines: 0,
    invalidUtf8Entries: 0,
    splitLines: 0,
    olderEntries: 0,
  };
}

/** Counts an entry that is sent. */
export function countEntry(tally: Tally, { lines, kind, isRecognised, invalidUtf8 }: ShippedEntry): void {
  tally.entries++;
  tally.lines += lines;
  if (kind === "native") tally.nativeLines++;
  if (isRecognised) tally.recognisedEntries++;
  if (kind === "first part") tally.splitLines++;
  if (invalidUtf8) tally.invalidUtf8Entries++;
}

/** Counts what another input was made into. */
export function addTally(sum: Tally, tally: Readonly<Tally>): void {
  sum.lines += tally.lines;
  sum.entries += tally.entries;
  sum.nativeLines += tally.nativeLines;
  sum.recognisedEntries += tally.recognisedEntries;
  sum.emptyLines += tally.emptyLines;
  sum.invalidUtf8Entries += tally.invalidUtf8Entries;
  sum.splitLines += tally.splitLines;
  sum.olderEntries += tally.olderEntries;
}

/** A place in the input and what was made of everything before it in this run. */
export interface Checkpoint {
  position: Readonly<Position>;
  tally: Readonly<Tally>;
}
