/** A record that could not become an entry. */
export interface RejectedRecord {
  /** Where it was in the request: a JSON pointer, or `line 12`. */
  readonly place: string;
  /** What is the matter, for people. */
  readonly reason: string;
  /** The record as it came, at most `RAW_MAX_BYTES`. */
  readonly raw: Uint8Array;
}

/** A record as a decoder gives it up; `raw` is cut by the list. */
export interface Rejection {
  readonly place: string;
  readonly reason: string;
  readonly raw: string | Uint8Array;
}

/** Rejected records of one request that are kept for the quarantine; the others are only counted. */
const KEPT_MAX_COUNT = 10_000;
/** Bytes of one rejected record: more than any entry may have. */
const RAW_MAX_BYTES = 256 * 1024;
const REASON_MAX_CHARS = 300;

const encoder = new TextEncoder();

/** The records of a request that could not become entries. */
export class RejectionList {
  readonly kept: RejectedRecord[] = [];
  count = 0;

  add({ place, reason, raw }: Rejection): void {
    this.count++;
    if (this.kept.length === KEPT_MAX_COUNT) return;
    // Copied: the bytes of a body are not kept alive by a few bad lines.
    const bytes = typeof raw === "string" ? encoder.encode(raw) : raw;
    this.kept.push({ place, reason: reason.slice(0, REASON_MAX_CHARS), raw: bytes.slice(0, RAW_MAX_BYTES) });
  }
}
