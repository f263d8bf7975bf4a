const LINE_FEED = 0x0a;

/** A line of a body without its line feed. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** The lines of a body that hold more than white space, in their order; the bytes are the body's own. */
export function* linesOf(body: Uint8Array): Generator<Line> {
  let number = 1;
  for (let start = 0; start < body.length; number++) {
    const feed = body.indexOf(LINE_FEED, start);
    const end = feed === -1 ? body.length : feed;
    if (!isBlank(body, start, end)) yield { number, bytes: body.subarray(start, end) };
    start = end + 1;
  }
}

function isBlank(body: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
