/**
 * A place in the input where shipping can go on. Between lines `part` is 0 and `lineStart` equals `offset`; inside a long
 * line `part` counts the parts of it that lie before `offset`.
 */
export interface Position {
  /** Bytes before this place; of a compressed file, of what is in it. */
  offset: number;
  /** Where the line around this place begins. */
  lineStart: number;
  part: number;
  /** Lines that ended before this place, empty ones included. */
  line: number;
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

/** The place behind the piece's bytes up to `cut`, where `before` is the one before them. */
export function positionAfter(piece: Piece, before: Readonly<Position>, cut: number): Position {
  if (cut === piece.end && piece.endsLine)
    return { offset: piece.nextOffset, lineStart: piece.nextOffset, part: 0, line: before.line + 1 };
  const offset = piece.offset + cut - piece.start;
  return { offset, lineStart: piece.lineStart, part: before.part + 1, line: before.line };
}
