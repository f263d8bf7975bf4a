import type { Reading } from "./reading.ts";
import type { Instant, LineClock } from "./time/line-clock.ts";

/** A time at the beginning of a line. */
export interface HeadTime {
  readonly instant: Instant;
  /** Where the text goes on: behind the time, and behind the bracket around it where that closes right there. */
  readonly end: number;
  /** The time stands behind a bracket, and something besides it does, too. */
  readonly isOpen: boolean;
  /** A number of seconds or less, without a fraction. */
  readonly isWholeNumber: boolean;
  readonly isHalfDay: boolean;
  /** The text said its zone, and wrote date and time together around a `T`. */
  readonly isMachine: boolean;
  readonly hasZone: boolean;
}

/** What a form needs beside the text. */
export interface LineContext {
  readonly clock: LineClock;
  /** The columns that the last `#Fields:` of a W3C log named; null before there was one. */
  columns: readonly string[] | null;
  /** The line is inside of one with a time, which says more than a time without a zone. */
  readonly needsZone: boolean;
  /** Reads a line inside a line; null when nothing is recognised, or it is too deep inside. */
  readonly inner: (text: string, needsZone?: boolean) => Reading | null;
}

/** A form of lines that begin with a time: looks at what is behind it. */
export interface TimedForm {
  readonly name: string;
  readonly read: (text: string, head: HeadTime, context: LineContext) => Reading | null;
}

/** A form of other lines, told by their beginning. */
export interface LineForm {
  readonly name: string;
  readonly read: (text: string, context: LineContext) => Reading | null;
}

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
