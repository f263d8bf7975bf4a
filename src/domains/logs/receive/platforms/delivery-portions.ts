import type { UnpackedRecords } from "../../../../../ingest/index.ts";
import { TURN_BYTES } from "./limits.ts";

/** Some consecutive records of a delivery, unpacked; a long record may have its lines in several. */
export interface DeliveryPortion {
  readonly records: UnpackedRecords;
  /** Their data, one behind the other; where it lies so already, the bytes that were added. */
  readonly body: Uint8Array;
}

/** The data of a portion as bytes that can be given away. */
export function ownBody({ body }: DeliveryPortion): Uint8Array {
  return body.length === body.buffer.byteLength ? body : new Uint8Array(body);
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
  /** Of the open one, as in `UnpackedRecords`. */
  #positions: number[] = [];
  #lines: number[] = [];
  #ends: number[] = [];
  #problems: number[] = [];
  readonly #reasons: string[] = [];
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #entries = 0;

  constructor(bounds: PortionBounds) {
    this.#bounds = bounds;
  }

  /** The next record; with a `problem` it stays whole. Pauses between looks at parts of a long one, so that others get a turn. */
  *add(position: number, bytes: Uint8Array, problem: string | null): Generator<void, void> {
    if (problem !== null) {
      this.#append(position, bytes, { lines: 0, entries: 1 }, this.#numberOf(problem));
      return;
    }
    const record = new RecordPieces(bytes, this.#bounds);
    for (let to = TURN_BYTES; to < bytes.length; to += TURN_BYTES) {
      record.look(to);
      yield;
    }
    for (const piece of record.end())
      this.#append(position, bytes.subarray(piece.start, piece.end), piece, 0);
  }

  /** All portions; called once, behind the last record. */
  end(): readonly DeliveryPortion[] {
    this.#close();
    return this.#closed;
  }

  /** There are few reasons. */
  #numberOf(reason: string): number {
    const known = this.#reasons.indexOf(reason);
    return known === -1 ? this.#reasons.push(reason) : known + 1;
  }

  #append(
    position: number,
    bytes: Uint8Array,
    { lines, entries }: Pick<Piece, "lines" | "entries">,
    problem: number,
  ): void {
    const { maxBytes, maxEntries } = this.#bounds;
    if (this.#bytes + bytes.length > maxBytes || this.#entries + entries > maxEntries) this.#close();
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    this.#entries += entries;
    this.#positions.push(position);
    this.#lines.push(lines);
    this.#ends.push(this.#bytes);
    this.#problems.push(problem);
  }

  #close(): void {
    if (this.#ends.length > 0)
      this.#closed.push({
        records: {
          positions: new Uint32Array(this.#positions),
          lines: new Uint32Array(this.#lines),
          ends: new Uint32Array(this.#ends),
          problems: new Uint8Array(this.#problems),
          reasons: this.#reasons,
        },
        body: joined(this.#parts, this.#bytes),
      });
    this.#positions = [];
    this.#lines = [];
    this.#ends = [];
    this.#problems = [];
    this.#parts = [];
    this.#bytes = 0;
    this.#entries = 0;
  }
}

/** The parts in one piece, without a copy of those that are behind one another. */
function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = parts;
  if (first === undefined) return new Uint8Array(0);
  const { buffer, byteOffset } = first;
  let end = byteOffset;
  for (const part of parts) {
    if (part.buffer !== buffer || part.byteOffset !== end) return Buffer.concat(parts, bytes);
    end += part.length;
  }
  return new Uint8Array(buffer, byteOffset, bytes);
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
class RecordPieces {
  readonly #bytes: Uint8Array;
  readonly #bounds: PortionBounds;
  readonly #pieces: Piece[] = [];
  #from: Boundary = { at: 0, lines: 0, begun: 0 };
  #last = this.#from;
  /** How far the record was looked at, and what was seen so far. */
  #at = 0;
  #lines = 0;
  #begun = 0;
  #before = OPEN_BRACE;
  #candidate: Boundary | null = null;

  constructor(bytes: Uint8Array, bounds: PortionBounds) {
    this.#bytes = bytes;
    this.#bounds = bounds;
  }

  /** Looks at the bytes up to `to`. */
  look(to: number): void {
    const bytes = this.#bytes;
    let lines = this.#lines;
    let begun = this.#begun;
    let before = this.#before;
    let candidate = this.#candidate;
    for (let i = this.#at; i < to; i++) {
      const byte = bytes[i] ?? 0;
      if (byte === LINE_FEED) {
        lines++;
        begun++;
        if (candidate === null && !OPENING.has(before)) candidate = { at: i + 1, lines, begun };
      } else if (byte > SPACE || !BLANKS.has(byte)) {
        if (candidate !== null && !CLOSING.has(byte)) this.#reach(candidate);
        candidate = null;
        if (byte === OPEN_BRACE) begun++;
        before = byte;
      }
    }
    this.#at = to;
    this.#lines = lines;
    this.#begun = begun;
    this.#before = before;
    this.#candidate = candidate;
  }

  /** All pieces, once the rest was looked at. */
  end(): readonly Piece[] {
    this.look(this.#bytes.length);
    const end = { at: this.#bytes.length, lines: this.#lines, begun: this.#begun };
    this.#reach(end);
    this.#cut(end);
    return this.#pieces;
  }

  #reach(next: Boundary): void {
    const { maxBytes, maxEntries } = this.#bounds;
    const from = this.#from;
    const isTooMuch = next.at - from.at > maxBytes || next.begun - from.begun >= maxEntries;
    if (isTooMuch && this.#last.at > from.at) this.#cut(this.#last);
    this.#last = next;
  }

  #cut(to: Boundary): void {
    const from = this.#from;
    this.#pieces.push({ start: from.at, end: to.at, lines: from.lines, entries: to.begun - from.begun + 1 });
    this.#from = to;
  }
}
