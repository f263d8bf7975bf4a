import type { WalFailedError } from "./errors.ts";
import type { WalIo } from "./io.ts";

/**
 * A record to append: a block the log does not look into, and the deduplication keys of the rows that have one. `bytes`
 * belong to the log until it has answered.
 */
export interface WalAppend {
  /** Rows in the block, at least 1. */
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /** As it will lie in the log: room for the header, keys, block, zeros up to a multiple of 8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** 16 a key. */
  readonly keyBytes: number;
  readonly blockBytes: number;
}

/** Positions of records: `start` inclusive, `end` exclusive. */
export interface WalRange {
  readonly start: number;
  readonly end: number;
}

/** A record read back. The arrays are views of a buffer that the log does not touch again. */
export interface WalRecord extends WalRange {
  readonly rows: number;
  readonly receivedAtMs: number;
  readonly block: Uint8Array;
  readonly keys: Uint8Array;
}

export interface WalReadLimits {
  /** Stored bytes to return; a first append larger than this is returned alone. */
  readonly maxBytes: number;
  readonly maxRecords: number;
  /** Return nothing that ends beyond this position. Default: the durable end. */
  readonly through?: number;
}

export interface WalBatch {
  readonly records: WalRecord[];
  /**
   * Where to read on: all records below it and at or above the asked position are in this batch or an earlier one. It is
   * `through` when the limits let everything in, so a range that is read again has the same end, whatever was damaged
   * meanwhile. Without records it is above the asked position if only a gap lies between, else equal to it.
   */
  readonly end: number;
}

/** Keys of one record, or of several that were kept together. */
export interface WalKeys {
  readonly keys: Uint8Array;
  /** Of the newest record among them. */
  readonly receivedAtMs: number;
}

/** Bytes of the log that are not a readable record. */
export interface WalDamage extends WalRange {
  /** `damaged`: was durable, hence acknowledged. `torn`: was being written when the process or the power died. */
  readonly kind: "damaged" | "torn";
  /** Whether `damaged/` holds a copy. */
  readonly preserved: boolean;
}

/** What opening the log found. */
export interface WalRecovery {
  /** Readable records in the segments, repaired ones included. */
  readonly recordsRecovered: number;
  readonly bytesRecovered: number;
  /** Records in which one wrong byte was found and set right. */
  readonly recordsRepaired: number;
  /** Unreadable regions that were durable. A region whose header is lost may hold more than one record. */
  readonly recordsDamaged: number;
  readonly bytesDamaged: number;
  /** Unreadable regions that were never acknowledged. */
  readonly recordsTorn: number;
  /** Bytes cut from the end of the log. */
  readonly bytesCut: number;
  /**
   * The ledger was missing, or neither of its slots could be read: it says of everything still in the log that it is not
   * flushed.
   */
  readonly ledgerLost: boolean;
}

/** How far the log was flushed. Both numbers are durable. */
export interface WalLedger {
  /** Everything below is in the store. */
  readonly flushedThrough: number;
  /** An insert of `flushedThrough`..`intentEnd` may have been tried. */
  readonly intentEnd: number;
  /**
   * Declares the range that will be inserted next, `flushedThrough`..`end`, so that a crash is followed by the same
   * insert. Rejects with WalWriteError (retryable) or WalFailedError.
   */
  setIntent(end: number): Promise<void>;
  /** Declares everything below `end` inserted. A larger intent stays. Rejects as `setIntent`. */
  setFlushed(end: number): Promise<void>;
}

/** Counters since the log was opened. */
export interface WalStats {
  readonly syncs: number;
  readonly recordsAppended: number;
  readonly bytesAppended: number;
  readonly recordsRejected: number;
  readonly recordsRepaired: number;
  readonly recordsDamaged: number;
}

export interface WalOptions {
  /** Created when missing. The caller makes sure that one process at a time has it open. */
  readonly directory: string;
  /** Bound of unreleased and queued bytes, at least two segments. */
  readonly maxBytes: number;
  /** Size at which a segment is sealed, a multiple of 8. */
  readonly segmentBytes: number;
  /** How long keys stay readable through `recoveredKeys`, counted from the record's `receivedAtMs`. */
  readonly keyRetentionMs: number;
  /** Keys received before are not retained either, milliseconds since the epoch; no such time when absent. */
  readonly keysWantedSinceMs?: () => number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called once, when the log has failed for good. */
  readonly onFatal: (error: WalFailedError) => void;
  /** Called for damage met while running; what opening finds is in `recovery`. */
  readonly onDamage?: (damage: WalDamage) => void;
  /** The file system; real files when absent. */
  readonly io?: WalIo;
}
