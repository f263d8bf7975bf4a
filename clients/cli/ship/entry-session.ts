import type { LineSplitter } from "./line-splitter.ts";
import type { Position } from "./position.ts";

/** An entry as it is sent, and what is known of it here. */
export interface ShippedEntry {
  /** What stands for it in the body of a request. */
  readonly text: string;
  /** The place behind the input that it is made of. */
  readonly after: Readonly<Position>;
  /** Lines that end within it: several of a stack trace, none of the first part of a long line. */
  readonly lines: number;
  readonly kind: "native" | "line" | "first part" | "later part";
  /** Its line is none of the API, but more is known of it than its text. */
  readonly isRecognised: boolean;
  readonly invalidUtf8: boolean;
  /** Milliseconds since 1970; null where it takes the time of receipt. */
  readonly timeMs: number | null;
  readonly level: string | null;
  readonly service: string | null;
  readonly source: string | null;
  /** Times that were read up to it and named no zone. */
  readonly timesWithoutZone: number;
}

/**
 * Makes entries of lines: the one place that decides what a line becomes. A session is begun at a position and fed with the
 * pieces from there on, in their order.
 *
 * A run that was killed begins a new session at the end of an entry, or where `flush` was called, and sends again what may
 * have been on its way: what a session gives must therefore depend on the options and the input behind its beginning alone.
 */
export interface EntrySession {
  /** Everything before it has been given out as entries or holds none. */
  readonly position: Readonly<Position>;
  /** Lines are held to which more may belong. */
  readonly isWaiting: boolean;
  /** The entries that are complete with this piece, which is valid during the call only; an empty piece is an empty line. */
  take(piece: LineSplitter): readonly ShippedEntry[];
  /** The entries that wait for lines to come: the input has ended, or rests since the given time in milliseconds since 1970. */
  flush(restsAtMs: number | null): readonly ShippedEntry[];
}

/** Begins a session at a place of the input, whose last line was written by `yearReferenceMs`. */
export type OpenSession = (from: Readonly<Position>, yearReferenceMs: number) => EntrySession;
