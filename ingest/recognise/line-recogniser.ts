import { decodeLenient } from "../decode/lenient-text.ts";
import { ByteBuffer } from "../native/byte-buffer.ts";
import { endOfBytes } from "../record/text-limits.ts";
import { EntryJoiner, type RecognisedEntry, type RecogniserState } from "./entry-joiner.ts";
import { LINE_MAX_BYTES } from "./limits.ts";
import { LineReader } from "./read-line.ts";
import { plainReading } from "./reading.ts";
import { LineClock, type LineClockOptions } from "./time/line-clock.ts";

export interface LineRecogniserOptions extends LineClockOptions {
  /** Where another recogniser stood after an entry that it had given, to go on behind it. */
  readonly state?: RecogniserState;
  /** The place of the first byte in its stream. */
  readonly offset?: number;
}

type OnEntry = (entry: RecognisedEntry) => void;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = "\uFEFF";
/** Lines that come in two chunks are seldom longer. */
const HELD_BYTES = 4096;

/**
 * Makes entries of the lines of one stream: says what each line is, and joins stacks and whatever else goes over several
 * lines. Every byte belongs to exactly one entry, `[start, end)`; a line of which nothing is known is its message as it
 * stands. The entries do not depend on how the stream is cut into chunks. Memory is bounded, see `limits.ts`.
 */
export class LineRecogniser {
  readonly #clock: LineClock;
  readonly #reader: LineReader;
  readonly #joiner: EntryJoiner;
  /** What came of the line that has not ended. */
  readonly #held = new ByteBuffer(HELD_BYTES);
  /** The place of what is held, or of the next byte. */
  #at: number;
  #state: RecogniserState = { columns: null, headsInARow: 0 };
  /** The present line began in a piece that was given already. */
  #isInLine = false;

  /** Throws RangeError for a zone that nobody knows. */
  constructor({ state, offset = 0, ...options }: LineRecogniserOptions) {
    this.#clock = new LineClock(options);
    this.#reader = new LineReader(this.#clock);
    this.#reader.columns = state?.columns ?? null;
    this.#joiner = new EntryJoiner(offset, state?.headsInARow ?? 0);
    this.#at = offset;
  }

  /** What a recogniser needs that is to go on behind the last entry given. */
  get state(): RecogniserState {
    const { columns } = this.#reader;
    const { headsInARow } = this.#joiner;
    // Hardly ever another than after the entry before.
    if (columns !== this.#state.columns || headsInARow !== this.#state.headsInARow)
      this.#state = { columns, headsInARow };
    return this.#state;
  }

  /** Times whose zone, and those whose year, was not in the text but taken from the options. */
  get guessed(): { readonly zones: number; readonly years: number } {
    return { zones: this.#clock.withoutZone, years: this.#clock.withoutYear };
  }

  /** Takes more of the stream, `chunk[start, end)`. An entry is given when the next one begins. */
  push(chunk: Uint8Array, onEntry: OnEntry, start = 0, end = chunk.length): void {
    // A search ends with a line that ends what is given, else at the end of the bytes.
    const searched = chunk[end - 1] === LINE_FEED ? chunk : chunk.subarray(0, end);
    let from = start;
    while (from < end) {
      const feed = searched.indexOf(LINE_FEED, from);
      if (feed < 0) break;
      if (this.#held.length === 0) this.#line(chunk, from, feed, 1, onEntry);
      else {
        this.#hold(chunk, from, feed, onEntry);
        const { bytes, length } = this.#held;
        this.#held.clear();
        this.#line(bytes, 0, length, 1, onEntry);
      }
      from = feed + 1;
    }
    this.#hold(chunk, from, end, onEntry);
  }

  /** Gives the entry whose lines may not all be there, for readers that wait for more. */
  settle(onEntry: OnEntry): void {
    this.#joiner.settle(onEntry);
  }

  /** Ends the stream. */
  end(onEntry: OnEntry): void {
    const { bytes, length } = this.#held;
    this.#held.clear();
    if (length > 0) this.#line(bytes, 0, length, 0, onEntry);
    this.#joiner.settle(onEntry);
  }

  /** Takes `bytes[start, end)`, which is what is left of a line, and `feedBytes` of its end. */
  #line(bytes: Uint8Array, start: number, end: number, feedBytes: number, onEntry: OnEntry): void {
    let from = start;
    while (end - from > LINE_MAX_BYTES) from = this.#piece(bytes, from, end, onEntry);
    const wasInLine = this.#isInLine;
    this.#isInLine = false;
    const hasReturn = feedBytes > 0 && end > from && bytes[end - 1] === CARRIAGE_RETURN;
    const text = decodeLenient(bytes, from, hasReturn ? end - 1 : end);
    this.#at += end - from + feedBytes;
    if (wasInLine) this.#joiner.addPiece(text, this.#at, onEntry);
    else this.#whole(text, onEntry);
  }

  /** Keeps what came of a line, and gives the pieces of one that becomes too long. */
  #hold(chunk: Uint8Array, start: number, end: number, onEntry: OnEntry): void {
    for (let from = start; from < end; ) {
      // One byte more than a piece shows that the line goes on behind it.
      const taken = Math.min(end - from, LINE_MAX_BYTES + 1 - this.#held.length);
      this.#held.writeSlice(chunk, from, from + taken);
      from += taken;
      if (this.#held.length <= LINE_MAX_BYTES) continue;
      const piece = this.#held.bytes.slice(0, this.#held.length);
      this.#held.clear();
      const next = this.#piece(piece, 0, piece.length, onEntry);
      this.#held.writeSlice(piece, next, piece.length);
    }
  }

  /** Gives a piece of a line that is too long to be held, and answers where the next one begins. */
  #piece(bytes: Uint8Array, from: number, end: number, onEntry: OnEntry): number {
    const pieceEnd = endOfBytes(bytes, from, end, LINE_MAX_BYTES);
    // Bytes that are no UTF-8 have no place between two characters.
    const next = pieceEnd > from ? pieceEnd : from + LINE_MAX_BYTES;
    const text = decodeLenient(bytes, from, next);
    this.#at += next - from;
    if (this.#isInLine) this.#joiner.addPiece(text, this.#at, onEntry);
    else this.#whole(text, onEntry);
    this.#isInLine = true;
    return next;
  }

  #whole(line: string, onEntry: OnEntry): void {
    const text = line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    this.#joiner.add(this.#reader.read(text) ?? plainReading(text), this.#at, onEntry);
  }
}
