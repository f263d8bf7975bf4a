import { isUtf8 } from "node:buffer";
import {
  LineRecogniser,
  type NativeEntry,
  nativeEntryOf,
  RECOGNISED_LINE_MAX_BYTES,
  type RecognisedEntry,
} from "../../../ingest/recognise/index.ts";
import { MESSAGE_MAX_CHARS, YEAR_REFERENCE_MAX_AGE_MS } from "../limits.ts";
import type { EntrySession, OpenSession, ShippedEntry } from "./entry-session.ts";
import type { EntryText } from "./entry-text.ts";
import { entryTimeMs } from "./entry-time.ts";
import { firstCodePoints, fitEntry } from "./fit-entry.ts";
import type { LineSplitter } from "./line-splitter.ts";
import { decodeText } from "./line-text.ts";
import { type Position, placeBetween, positionAfter } from "./position.ts";
import type { RecognisedText } from "./recognised-text.ts";
import { nativeLine, textsOf } from "./text-entries.ts";
import type { WrittenEntry } from "./written-entry.ts";

const OPEN_BRACE = 0x7b;
const LINE_FEED = 0x0a;
/** What every entry of the API has. */
const MESSAGE_KEY = Buffer.from('"message"');
/** The API takes no message without a character, which a line may have. */
const EMPTY_MESSAGE = " ";
/** The form of lines of which nothing is known but their text. */
const PLAIN = "plain";

/**
 * Sessions in which a line that is an entry of the API is that entry; of any other it is recognised what it says, and lines that
 * belong together are one entry. Times that name no zone count in `zone`.
 */
export function recognisedSessions(zone: string, entryText: EntryText): OpenSession {
  return (from, yearReferenceMs) => new RecognisedSession(from, { zone, entryText, yearReferenceMs });
}

interface Options {
  readonly zone: string;
  readonly entryText: EntryText;
  readonly yearReferenceMs: number;
}

class RecognisedSession implements EntrySession {
  position: Readonly<Position>;
  readonly #zone: string;
  readonly #entryText: EntryText;
  readonly #text: RecognisedText;
  #yearReferenceMs: number;
  /** Null until a line needs it: an entry of the API does not. */
  #recogniser: LineRecogniser | null = null;
  /** Behind the last piece, and the lines before that. */
  #next: number;
  #line: number;
  /** Of the lines since the last entry: how many hold something, and whether they are UTF-8. */
  #lines = 0;
  #isInvalid = false;
  /** Entries of the present message that are behind, and those that an earlier run has sent. */
  #parts = 0;
  #sentParts: number;
  #withoutZone = 0;
  /** Up to where it is known whether the input is UTF-8, and whether all of that is. */
  #lookedUpTo = 0;
  #isAllValid = false;
  #given: ShippedEntry[] = [];
  readonly #give = (entry: RecognisedEntry): void => this.#take(entry);

  constructor(from: Readonly<Position>, { zone, entryText, yearReferenceMs }: Options) {
    this.position = from;
    this.#zone = zone;
    this.#entryText = entryText;
    this.#text = entryText.recognised;
    this.#yearReferenceMs = yearReferenceMs;
    this.#next = from.offset;
    this.#line = from.line;
    this.#sentParts = from.lineStart === from.offset ? from.part : 0;
    if (this.#sentParts > 0) this.position = placeBetween(from.offset, from.line, from.recogniser);
  }

  get isWaiting(): boolean {
    return this.#lines > 0;
  }

  take(piece: LineSplitter): readonly ShippedEntry[] {
    this.#given = [];
    const size = piece.end - piece.start;
    const isWhole = piece.endsLine && !piece.continued;
    const native = isWhole ? this.#nativeOf(piece) : null;
    if (native !== null || !isWhole || size > RECOGNISED_LINE_MAX_BYTES) this.#takeAlone(piece, native);
    else {
      this.#recogniser ??= this.#begin(piece.offset);
      const end = piece.start + piece.nextOffset - piece.offset;
      this.#recogniser.push(piece.bytes, this.#give, piece.start, end);
      if (size > 0) {
        this.#lines++;
        this.#isInvalid ||= !this.#isValid(piece);
      }
    }
    this.#next = piece.nextOffset;
    if (piece.endsLine) this.#line++;
    return this.#given;
  }

  flush(restsAtMs: number | null): readonly ShippedEntry[] {
    this.#given = [];
    this.#settle();
    // What comes behind a rest is written from now on.
    if (restsAtMs !== null && restsAtMs - this.#yearReferenceMs > YEAR_REFERENCE_MAX_AGE_MS) {
      this.#yearReferenceMs = restsAtMs;
      this.#recogniser = null;
    }
    return this.#given;
  }

  /** Gives what waits. */
  #settle(): void {
    this.#recogniser?.end(this.#give);
    // Lines of nothing but blanks are no entry.
    this.#lines = 0;
    const isInLine = this.position.lineStart < this.position.offset;
    if (!isInLine) this.position = placeBetween(this.#next, this.#line, this.#state());
  }

  /** Takes what is an entry by itself: one of the API, or a line that is too long to be looked at. */
  #takeAlone(piece: LineSplitter, native: WrittenEntry | null): void {
    this.#settle();
    const state = this.#state();
    this.#recogniser = null;
    const withState = (place: Position): Position =>
      state === undefined ? place : { ...place, recogniser: state };
    if (native === null)
      for (const entry of textsOf(piece, this.position, this.#entryText))
        this.#given.push({ ...entry, after: withState({ ...entry.after }) });
    else this.#given.push(nativeLine(native, withState(positionAfter(piece, this.position, piece.end))));
    this.position = this.#given.at(-1)?.after ?? withState(positionAfter(piece, this.position, piece.end));
  }

  /** Whether the line is UTF-8; asked about all that has been read at once, because hardly any line is not. */
  #isValid({ bytes, start, end, offset, filled }: LineSplitter): boolean {
    if (offset >= this.#lookedUpTo) {
      const lastFeed = bytes.lastIndexOf(LINE_FEED, filled - 1);
      const stop = Math.max(end, lastFeed);
      this.#lookedUpTo = offset + stop - start;
      this.#isAllValid = isUtf8(bytes.subarray(start, stop));
    }
    return this.#isAllValid || isUtf8(bytes.subarray(start, end));
  }

  #nativeOf({ bytes, start, end }: LineSplitter): WrittenEntry | null {
    let at = start;
    while (at < end && (bytes[at] ?? 0) <= 0x20) at++;
    if (bytes[at] !== OPEN_BRACE) return null;
    const line = bytes.subarray(at, end);
    return line.includes(MESSAGE_KEY) ? this.#entryText.ofNative(decodeText(line).text) : null;
  }

  #begin(offset: number): LineRecogniser {
    const { recogniser: state } = this.position;
    this.#withoutZone = 0;
    return new LineRecogniser({
      zone: this.#zone,
      yearReferenceMs: this.#yearReferenceMs,
      offset,
      ...(state !== undefined && { state }),
    });
  }

  #state(): Position["recogniser"] {
    return this.#recogniser === null ? this.position.recogniser : this.#recogniser.state;
  }

  #take(entry: RecognisedEntry): void {
    const written = this.#parts === 0 && this.#sentParts === 0 ? this.#text.of(entry) : null;
    if (written === null) this.#takeLong(entry);
    else this.#takeWhole(entry, written);
  }

  /** An entry that the API takes as it is, as most are: member by member. */
  #takeWhole({ end, form }: RecognisedEntry, { text, timeMs, level, service, source }: WrittenEntry): void {
    const after = placeBetween(end, this.#line, this.#state());
    this.#given.push({
      text,
      timeMs,
      level,
      service,
      source,
      after,
      lines: this.#lines,
      kind: "line",
      isRecognised: form !== PLAIN,
      invalidUtf8: this.#isInvalid,
      timesWithoutZone: this.#newTimesWithoutZone(),
    });
    this.#lines = 0;
    this.#isInvalid = false;
    this.position = after;
  }

  /** An entry of a message that is longer than one may be, or of which something is cut. */
  #takeLong(entry: RecognisedEntry): void {
    const native = fitEntry(nativeEntryOf(entry));
    const after = placeBetween(entry.end, this.#line, this.#state());
    const begin = this.position;
    let rest = native.message === "" ? EMPTY_MESSAGE : native.message;
    while (rest !== "") {
      const message = firstCodePoints(rest, MESSAGE_MAX_CHARS);
      rest = rest.slice(message.length);
      const isLast = rest === "" && !entry.goesOn;
      const part = ++this.#parts;
      if (part <= this.#sentParts) continue;
      const isWhole = isLast && part === 1;
      this.#given.push({
        ...this.#written(isWhole ? { ...native, message } : partOf(native, message, begin, part, isLast)),
        after: isLast ? after : { ...begin, part },
        lines: rest === "" ? this.#lines : 0,
        kind: isWhole ? "line" : part === 1 ? "first part" : "later part",
        isRecognised: entry.form !== PLAIN,
        invalidUtf8: this.#isInvalid,
        timesWithoutZone: this.#newTimesWithoutZone(),
      });
    }
    this.#lines = 0;
    this.#isInvalid = false;
    if (entry.goesOn) return;
    this.position = after;
    this.#parts = 0;
    this.#sentParts = 0;
  }

  #written(entry: NativeEntry): WrittenEntry {
    return this.#entryText.ofRecognised(entry, entry.ts === undefined ? null : entryTimeMs(entry.ts));
  }

  #newTimesWithoutZone(): number {
    const before = this.#withoutZone;
    this.#withoutZone = this.#recogniser?.guessed.zones ?? 0;
    return this.#withoutZone - before;
  }
}

/** One of the entries that a message becomes which is longer than one may be; `begin` is where it begins. */
function partOf(
  { event_id, ...whole }: NativeEntry,
  message: string,
  begin: Readonly<Position>,
  part: number,
  isLast: boolean,
): NativeEntry {
  const attrs = { ...whole.attrs, _line: begin.offset, _part: part, ...(isLast && { _last: true }) };
  // An identifier stands for one entry: the others with it would be repetitions.
  return { ...whole, ...(event_id !== undefined && part === 1 && { event_id }), message, attrs };
}
