/**
 * A place in the input where shipping can go on. Between lines `part` is 0 and `lineStart` equals `offset`; inside a long
 * line `part` counts the parts of it that lie before `offset`.
 */
export interface Position {
  /** Bytes before this place. */
  offset: number;
  /** Where the line around this place begins. */
  lineStart: number;
  part: number;
  /** Lines that ended before this place, empty ones included. */
  line: number;
}

export const START: Readonly<Position> = { offset: 0, lineStart: 0, part: 0, line: 0 };
