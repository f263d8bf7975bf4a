/** Why a body is not a row of frames from a place on. */
export interface OctetFrameFault {
  /** Offset in bytes. */
  readonly at: number;
  readonly reason: string;
}

const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
/** Digits of a frame's length: far more than a body may have. */
const LENGTH_MAX_DIGITS = 9;

/**
 * Takes a body apart that is framed by octet counting (RFC 6587 section 3.4.1): `<bytes> <message>` again and again.
 * Calls `onFrame` with the byte range of each message; line ends and blanks between frames are skipped. Answers null
 * when the whole body was taken apart, else where and why it was not; the frames before that place have been given.
 */
export function readOctetFrames(
  body: Uint8Array,
  onFrame: (start: number, end: number) => void,
): OctetFrameFault | null {
  let at = 0;
  for (;;) {
    while (at < body.length && (body[at] ?? 0) <= SPACE) at++;
    if (at === body.length) return null;
    const frameAt = at;
    let length = 0;
    for (
      let digit = digitAt(body, at);
      digit >= 0 && at - frameAt < LENGTH_MAX_DIGITS;
      digit = digitAt(body, ++at)
    )
      length = length * 10 + digit;
    if (at === frameAt || body[at] !== SPACE)
      return { at: frameAt, reason: "a frame begins with its length in bytes and a blank" };
    const start = at + 1;
    if (start + length > body.length)
      return {
        at: frameAt,
        reason: `the frame has ${length} bytes, of which ${body.length - start} are there`,
      };
    onFrame(start, start + length);
    at = start + length;
  }
}

function digitAt(body: Uint8Array, at: number): number {
  const digit = (body[at] ?? 0) - DIGIT_ZERO;
  return digit <= 9 ? digit : -1;
}
