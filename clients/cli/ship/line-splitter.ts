import { CODE_POINT_MAX_BYTES, LINE_MAX_BYTES, MESSAGE_MAX_CHARS, READ_BYTES } from "../limits.ts";
import type { ByteSource } from "./byte-source.ts";
import { endOfCodePoints } from "./code-points.ts";
import type { Position } from "./position.ts";

const LF = 0x0a;
const CR = 0x0d;

/**
 * Unended bytes after which a first message can be cut off a long line without seeing its end: they hold more code points
 * than one message, and two bytes more, so that what follows the cut cannot be just a carriage return before the line feed.
 */
const CUT_BYTES = MESSAGE_MAX_CHARS * CODE_POINT_MAX_BYTES + 2;
const BUFFER_BYTES = LINE_MAX_BYTES + READ_BYTES;

/**
 * Splits a stream of bytes into lines, in constant memory whatever the length of a line.
 *
 * A line ends at LF; one CR directly before that LF belongs to the ending, every other byte to the line. The last line
 * needs no LF. A line of up to LINE_MAX_BYTES before its LF is one piece. A longer one, and the rest of a line that was
 * begun before, comes in pieces of MESSAGE_MAX_CHARS code points counted from its start, so where it is cut depends on its
 * bytes only and not on how they were read.
 *
 * `next` describes a piece in the fields below, valid until the next call of `next` or `fill`.
 */
export class LineSplitter {
  /** The piece is bytes[start, end). */
  bytes: Buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  start = 0;
  end = 0;
  /** Offset of the piece in the stream. */
  offset: number;
  /** Where the piece's line begins in the stream. */
  lineStart: number;
  /** True when the piece lies inside or at the end of a line whose earlier part was shipped before. */
  continued = false;
  /** True when the line ends with this piece. */
  endsLine = false;
  /** Offset of what follows the piece and its line ending. */
  nextOffset: number;

  readonly #source: ByteSource;
  #filled = 0;
  #at = 0;
  /** Up to here there is no line feed behind #at. */
  #searched = 0;
  /** Stream offset of bytes[0]. */
  #base: number;
  #inLine: boolean;
  #ended = false;

  constructor(source: ByteSource, from: Readonly<Position>) {
    this.#source = source;
    this.#base = from.offset;
    this.offset = from.offset;
    this.nextOffset = from.offset;
    this.lineStart = from.lineStart;
    this.#inLine = from.lineStart < from.offset;
  }

  /** The buffer holds what was read up to here. */
  get filled(): number {
    return this.#filled;
  }

  /** True once the source has no more bytes. */
  get ended(): boolean {
    return this.#ended;
  }

  /** True while a line has been given in part. */
  get inLine(): boolean {
    return this.#inLine;
  }

  /** Reads more bytes. Call when `next` found no piece and `ended` is false. */
  async fill(): Promise<void> {
    if (this.#at > 0) {
      this.bytes.copyWithin(0, this.#at, this.#filled);
      this.#base += this.#at;
      this.#filled -= this.#at;
      this.#searched -= this.#at;
      this.#at = 0;
    }
    const count = await this.#source.read(this.bytes.subarray(this.#filled));
    if (count === 0) this.#ended = true;
    this.#filled += count;
  }

  /** Moves on to the next piece. False when it needs more bytes, or there are none. An empty piece is an empty line. */
  next(): boolean {
    const lineFeed = this.#findLineFeed();
    if (lineFeed < 0 && !this.#ended) {
      const waiting = this.#filled - this.#at;
      if (waiting <= (this.#inLine ? CUT_BYTES : LINE_MAX_BYTES)) return false;
      const cut = this.#endOfMessage(this.#filled);
      this.#take(cut, cut, false);
      return true;
    }
    if (lineFeed < 0 && this.#at === this.#filled) return false;
    const rawEnd = lineFeed < 0 ? this.#filled : lineFeed;
    const crlf = lineFeed > this.#at && this.bytes[lineFeed - 1] === CR;
    const end = crlf ? lineFeed - 1 : rawEnd;
    const isLong = this.#inLine || rawEnd - this.#at > LINE_MAX_BYTES;
    const cut = isLong ? this.#endOfMessage(end) : end;
    if (cut < end) this.#take(cut, cut, false);
    else this.#take(end, lineFeed < 0 ? end : lineFeed + 1, true);
    return true;
  }

  #endOfMessage(end: number): number {
    return endOfCodePoints(this.bytes, this.#at, end, MESSAGE_MAX_CHARS);
  }

  #findLineFeed(): number {
    const from = Math.max(this.#at, this.#searched);
    const found = this.bytes.indexOf(LF, from);
    // Behind #filled lie bytes of earlier reads.
    const isThere = found >= 0 && found < this.#filled;
    this.#searched = isThere ? found : this.#filled;
    return isThere ? found : -1;
  }

  #take(end: number, next: number, endsLine: boolean): void {
    this.start = this.#at;
    this.end = end;
    this.offset = this.#base + this.#at;
    this.nextOffset = this.#base + next;
    if (!this.#inLine) this.lineStart = this.offset;
    this.continued = this.#inLine;
    this.endsLine = endsLine;
    this.#inLine = !endsLine;
    this.#at = next;
  }
}
