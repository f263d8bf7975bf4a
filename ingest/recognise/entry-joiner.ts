import type { Level } from "../log-batch.ts";
import { Continuation } from "./continuation.ts";
import { HEADS_IN_A_ROW, JOINED_MAX_CHARS, JOINED_MAX_LINES } from "./limits.ts";
import { plainReading, Reading } from "./reading.ts";
import type { Instant } from "./time/line-clock.ts";

/** What one line, or several that belong together, say; null for what they do not. */
export interface RecognisedEntry {
  /** For people: the form in which the first line was recognised, `plain` for none. */
  readonly form: string;
  readonly time: Instant | null;
  readonly level: Level | null;
  readonly service: string | null;
  readonly source: string | null;
  readonly host: string | null;
  /** In lower case. */
  readonly traceId: string | null;
  readonly spanId: string | null;
  /** By which the sender calls it, again whenever it repeats it. */
  readonly eventId: string | null;
  readonly message: string;
  /** Texts and JSON values. */
  readonly attributes: ReadonlyMap<string, unknown>;
  /** The place of its bytes in the stream, line ends and empty lines behind it included. */
  readonly start: number;
  readonly end: number;
  /** The message is longer than one may be: the next entry is more of it, which no recogniser can tell that begins there. */
  readonly goesOn: boolean;
}

/** What the lines before tell about those that follow. */
export interface RecogniserState {
  /** Of the last `#Fields:` of a W3C log. */
  readonly columns: readonly string[] | null;
  /** Heads with times in a row before the present one. */
  readonly headsInARow: number;
}

/** Counts the entries of one message that is longer than one may be. */
const PART = "_part";

type OnEntry = (entry: RecognisedEntry) => void;

/** Puts lines together that are one entry, and gives each when the next one begins. */
export class EntryJoiner {
  headsInARow: number;
  readonly #continuation = new Continuation();
  #current: Reading | null = null;
  #message: string[] = [];
  #chars = 0;
  #blanks = 0;
  #part = 1;
  #isPartial = false;
  /** Where the current entry begins, and where it ends so far. */
  #start: number;
  #end: number;

  constructor(offset: number, headsInARow: number) {
    this.headsInARow = headsInARow;
    this.#start = offset;
    this.#end = offset;
  }

  /** Takes what a line says that ends at `end`. */
  add(reading: Reading, end: number, onEntry: OnEntry): void {
    const current = this.#current;
    if (!reading.isHead && reading.message.trim() === "" && reading.attributes.size === 0) {
      // An empty line counts when the message goes on behind it.
      if (current !== null) this.#blanks++;
      this.#end = end;
      return;
    }
    if (current !== null && this.#belongs(reading, current)) this.#append(reading, current, end, onEntry);
    else this.#begin(reading, end, onEntry);
  }

  /** Takes a further piece of a line that is too long to be held. */
  addPiece(text: string, end: number, onEntry: OnEntry): void {
    const current = this.#current;
    if (current === null) this.add(plainReading(text), end, onEntry);
    else if (text === "") this.#end = end;
    else {
      this.#nextPart(current, onEntry);
      this.#extend(text, end);
    }
  }

  /** Gives the present entry. */
  settle(onEntry: OnEntry): void {
    const current = this.#current;
    this.#current = null;
    if (current !== null) this.#give(current, false, onEntry);
  }

  #belongs(reading: Reading, current: Reading): boolean {
    if (reading.stream !== current.stream) return false;
    if (this.#isPartial) return true;
    // The line with the message may have a level in front, but no time.
    if (current.awaitsLine) return reading.time === null;
    if (reading.isHead) return false;
    return this.#continuation.continues(reading.message, current, this.headsInARow >= HEADS_IN_A_ROW);
  }

  #append(reading: Reading, current: Reading, end: number, onEntry: OnEntry): void {
    const { message } = reading;
    if (current.awaitsLine) {
      current.awaitsLine = false;
      current.level ??= reading.level;
      for (const [key, value] of reading.attributes) current.attributes.set(key, value);
      this.#message = [];
      this.#chars = 0;
      this.#extend(message.trimStart(), end);
      return;
    }
    const isPiece = this.#isPartial;
    this.#isPartial = reading.isPartial;
    const isFull =
      this.#chars + message.length + this.#blanks >= JOINED_MAX_CHARS ||
      this.#message.length >= JOINED_MAX_LINES;
    if (isFull) this.#nextPart(current, onEntry);
    else if (isPiece) {
      this.#extendPiece(message, end);
      return;
    } else for (; this.#blanks > 0; this.#blanks--) this.#message.push("");
    this.#extend(message, end);
  }

  #extend(text: string, end: number): void {
    this.#message.push(text);
    this.#chars += text.length + 1;
    this.#blanks = 0;
    this.#end = end;
  }

  #extendPiece(text: string, end: number): void {
    this.#message.push((this.#message.pop() ?? "") + text);
    this.#chars += text.length;
    this.#end = end;
  }

  #begin(reading: Reading, end: number, onEntry: OnEntry): void {
    this.settle(onEntry);
    this.headsInARow = reading.isTimed ? Math.min(this.headsInARow + 1, HEADS_IN_A_ROW) : 0;
    this.#current = reading;
    this.#isPartial = reading.isPartial;
    this.#part = 1;
    this.#message = [];
    this.#chars = 0;
    this.#continuation.begin(reading.message);
    this.#extend(reading.message, end);
  }

  /** Gives what there is of a message that is longer than one may be, and goes on with another entry of the same head. */
  #nextPart(current: Reading, onEntry: OnEntry): void {
    this.#give(current, true, onEntry);
    const next = new Reading(current.form, "");
    next.time = current.time;
    next.level = current.level;
    next.service = current.service;
    next.source = current.source;
    next.host = current.host;
    next.isHead = current.isHead;
    next.isText = current.isText;
    next.isTimed = current.isTimed;
    next.stream = current.stream;
    next.attributes.set(PART, ++this.#part);
    this.#current = next;
  }

  #give(reading: Reading, goesOn: boolean, onEntry: OnEntry): void {
    const { form, time, level, service, source, host, traceId, spanId, eventId, attributes } = reading;
    const message = this.#message.length === 1 ? (this.#message[0] ?? "") : this.#message.join("\n");
    const start = this.#start;
    this.#start = this.#end;
    this.#message = [];
    this.#chars = 0;
    this.#blanks = 0;
    onEntry({
      form,
      time,
      level,
      service,
      source,
      host,
      traceId,
      spanId,
      eventId,
      message,
      attributes,
      start,
      end: this.#end,
      goesOn,
    });
  }
}
