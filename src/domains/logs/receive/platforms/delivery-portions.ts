import type { UnpackedRecord } from "../../../../../ingest/index.ts";

/** Some consecutive records of a delivery, unpacked; a long record may have its lines in several. */
export interface DeliveryPortion {
  readonly records: readonly UnpackedRecord[];
  /** Their data, one behind the other. */
  readonly body: Uint8Array;
}

/** What a portion may hold; a line or an object that is longer has one for itself. */
interface PortionBounds {
  readonly maxBytes: number;
  /** Log records, counted by what they may begin with: a line or a brace. */
  readonly maxEntries: number;
}

/** Divides the records of a delivery into portions: the same records always into the same. */
export class DeliveryPortions {
  readonly #bounds: PortionBounds;
  readonly #closed: DeliveryPortion[] = [];
  #records: UnpackedRecord[] = [];
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #entries = 0;

  constructor(bounds: PortionBounds) {
    this.#bounds = bounds;
  }

  /** The next record; with a `problem` it stays whole. */
  add(place: string, bytes: Uint8Array, problem: string | null): void {
    if (problem !== null) {
      this.#append(place, bytes, 1, problem);
      return;
    }
    for (const { start, end, lines, entries } of piecesOf(bytes, this.#bounds))
      this.#append(
        lines === 0 ? place : `${place} behind line ${lines}`,
        bytes.subarray(start, end),
        entries,
        null,
      );
  }

  /** All portions; called once, behind the last record. */
  end(): readonly DeliveryPortion[] {
    this.#close();
    return this.#closed;
  }

  #append(place: string, bytes: Uint8Array, entries: number, problem: string | null): void {
    const { maxBytes, maxEntries } = this.#bounds;
    if (this.#bytes + bytes.length > maxBytes || this.#entries + entries > maxEntries) this.#close();
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    this.#entries += entries;
    this.#records.push({ place, end: this.#bytes, problem });
  }

  #close(): void {
    if (this.#records.length > 0)
      this.#closed.push({ records: this.#records, body: Buffer.concat(this.#parts, this.#bytes) });
    this.#records = [];
    this.#parts = [];
    this.#bytes = 0;
    this.#entries = 0;
  }
}

/** Consecutive lines of a record. */
interface Piece {
  readonly start: number;
  readonly end: number;
  /** Lines of the record before it. */
  readonly lines: number;
  /** Log records in it, at most. */
  readonly entries: number;
}

/** A place between two lines, with the lines and the possible beginnings of log records before it. */
interface Boundary {
  readonly at: number;
  readonly lines: number;
  readonly begun: number;
}

const LINE_FEED = 0x0a;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
const BLANKS = new Set([SPACE, 0x09, 0x0d]);
/** Behind one of `{[,:`, and before one of `}],:`, a line break may be inside of a JSON value; at no other place. */
const OPENING = new Set([OPEN_BRACE, 0x5b, 0x2c, 0x3a]);
const CLOSING = new Set([0x7d, 0x5d, 0x2c, 0x3a]);

/** A record as a whole where it is within the bounds, else divided at ends of lines that are not inside of a JSON value. */
function piecesOf(bytes: Uint8Array, { maxBytes, maxEntries }: PortionBounds): Piece[] {
  const pieces: Piece[] = [];
  let from: Boundary = { at: 0, lines: 0, begun: 0 };
  let last = from;
  const cut = (to: Boundary): void => {
    pieces.push({ start: from.at, end: to.at, lines: from.lines, entries: to.begun - from.begun + 1 });
    from = to;
  };
  const reach = (next: Boundary): void => {
    const isTooMuch = next.at - from.at > maxBytes || next.begun - from.begun >= maxEntries;
    if (isTooMuch && last.at > from.at) cut(last);
    last = next;
  };
  let lines = 0;
  let begun = 0;
  let before = OPEN_BRACE;
  let candidate: Boundary | null = null;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === LINE_FEED) {
      lines++;
      begun++;
      if (candidate === null && !OPENING.has(before)) candidate = { at: i + 1, lines, begun };
    } else if (byte > SPACE || !BLANKS.has(byte)) {
      if (candidate !== null && !CLOSING.has(byte)) reach(candidate);
      candidate = null;
      if (byte === OPEN_BRACE) begun++;
      before = byte;
    }
  }
  const end = { at: bytes.length, lines, begun };
  reach(end);
  cut(end);
  return pieces;
}
