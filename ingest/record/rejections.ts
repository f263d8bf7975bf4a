/** A record that could not become an entry. */
export interface RejectedRecord {
  /** Where it was in the request: a JSON pointer, or `line 12`. */
  readonly place: string;
  /** What is the matter, for people. */
  readonly reason: string;
  /** The record as it came; null when it is too large to be kept, which the reason then says. */
  readonly raw: Uint8Array | null;
}

/** A record as a decoder gives it up. */
export interface Rejection {
  readonly place: string;
  readonly reason: string;
  readonly raw: string | Uint8Array;
}

/** Rejected records of one request that are told apart, for the quarantine; the others are only counted. */
const KEPT_MAX_COUNT = 10_000;
/**
 * Bytes of one rejected record: more than most senders send in one, and a step of a replay has room for several. A larger
 * one is not kept, rather than a part of it, of which nothing could be made any more.
 */
const RAW_MAX_BYTES = 1024 * 1024;
const NOT_KEPT = `; with more than ${RAW_MAX_BYTES} bytes the record is too large to be kept`;
const REASON_MAX_CHARS = 300;

const encoder = new TextEncoder();

/** The records of a request that could not become entries. */
export class RejectionList {
  readonly kept: RejectedRecord[] = [];
  count = 0;

  add({ place, reason, raw }: Rejection): void {
    this.count++;
    if (this.kept.length === KEPT_MAX_COUNT) return;
    const bytes = typeof raw === "string" ? encoder.encode(raw) : raw;
    const shown = reason.slice(0, REASON_MAX_CHARS);
    this.kept.push(
      bytes.length > RAW_MAX_BYTES
        ? { place, reason: shown + NOT_KEPT, raw: null }
        : // Copied: the bytes of a body are not kept alive by a few bad lines.
          { place, reason: shown, raw: bytes.slice() },
    );
  }
}
