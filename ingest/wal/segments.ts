import { assertInvariant } from "./errors.ts";

const SUFFIX = ".wal";
const POSITION_DIGITS = 16;
const NAME = /^(\d{16})\.wal$/;

/** One file of the log. `bytes` counts what is durable: nothing beyond it is ever read. */
export interface Segment {
  readonly base: number;
  readonly path: string;
  bytes: number;
  /** Keys in its records; without any, its release needs no key file. */
  keyBytes: number;
  /** The newest `receivedAtMs` of its records, 0 while it has none. */
  newestMs: number;
}

export function segmentEnd(segment: Segment): number {
  return segment.base + segment.bytes;
}

/** Sorted as text as their positions are as numbers. */
export function positionText(position: number): string {
  return position.toString().padStart(POSITION_DIGITS, "0");
}

export function segmentName(base: number): string {
  return `${positionText(base)}${SUFFIX}`;
}

/** The base in a segment's file name, undefined for any other file. */
export function segmentBase(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The segments of the log in ascending order of position. */
export class Segments {
  readonly #list: Segment[] = [];
  #bytes = 0;

  /** Durable bytes of all segments. */
  get bytes(): number {
    return this.#bytes;
  }

  get last(): Segment | undefined {
    return this.#list.at(-1);
  }

  add(segment: Segment): void {
    const last = this.last;
    assertInvariant(last === undefined || segment.base >= segmentEnd(last), 2, "segments overlap");
    this.#list.push(segment);
    this.#bytes += segment.bytes;
  }

  grow(segment: Segment, bytes: number): void {
    segment.bytes += bytes;
    this.#bytes += bytes;
  }

  remove(segment: Segment): void {
    const index = this.#list.indexOf(segment);
    if (index < 0) return;
    this.#list.splice(index, 1);
    this.#bytes -= segment.bytes;
  }

  /** The first segment with bytes after `position`. */
  firstAfter(position: number): Segment | undefined {
    return this.#list.find((segment) => segmentEnd(segment) > position);
  }

  /** A copy, safe to walk while segments come and go. */
  snapshot(): Segment[] {
    return [...this.#list];
  }
}
