import type { RecogniserState } from "../../../ingest/recognise/index.ts";

/**
 * A place in the input where shipping can go on. Between lines `part` is 0 and `lineStart` equals `offset`; inside a long
 * line `part` counts the parts of it that lie before `offset`. Where several lines are one message in several entries, both
 * stay where it begins, and `part` counts the entries of it that are behind: it is read once more and these are left out.
 */
export interface Position {
  /** Bytes before this place; of a compressed file, of what is in it. */
  offset: number;
  /** Where the line around this place begins. */
  lineStart: number;
  part: number;
  /** Lines that ended before this place, empty ones included. */
  line: number;
  /** What the lines before tell about those that follow; absent where nothing does. */
  readonly recogniser?: RecogniserState;
}

export const START: Readonly<Position> = { offset: 0, lineStart: 0, part: 0, line: 0 };

/** A line, or a part of a long one, in a buffer. */
interface Piece {
  readonly start: number;
  readonly end: number;
  /** Offset of the piece in the input. */
  readonly offset: number;
  readonly lineStart: number;
  readonly endsLine: boolean;
  /** Offset of what follows the piece and its line ending. */
  readonly nextOffset: number;
}

/** A place between two lines. */
export function placeBetween(offset: number, line: number, recogniser?: RecogniserState): Position {
  const lineStart = offset;
  return recogniser === undefined
    ? { offset, lineStart, part: 0, line }
    : { offset, lineStart, part: 0, line, recogniser };
}

/** The place behind the piece's bytes up to `cut`, where `before` is the one before them. */
export function positionAfter(piece: Piece, before: Readonly<Position>, cut: number): Position {
  if (cut === piece.end && piece.endsLine)
    return { offset: piece.nextOffset, lineStart: piece.nextOffset, part: 0, line: before.line + 1 };
  const offset = piece.offset + cut - piece.start;
  return { offset, lineStart: piece.lineStart, part: before.part + 1, line: before.line };
}
