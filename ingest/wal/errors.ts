/** What the log refuses or cannot do. `retryable` tells whether the same append may succeed later on this process. */
abstract class WalError extends Error {
  abstract readonly retryable: boolean;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The byte bound of the log (`log`) or of its queue in memory (`queue`) is reached. Nothing was written. */
export class WalFullError extends WalError {
  readonly retryable = true;
  readonly reason: "log" | "queue";

  constructor(reason: "log" | "queue") {
    super(
      reason === "log"
        ? "the write-ahead log has reached its byte bound"
        : "too many bytes wait for the write-ahead log's disk",
    );
    this.reason = reason;
  }
}

/** The disk refused a write (full, quota, read-only). The log was cut back to its last durable end and goes on. */
export class WalWriteError extends WalError {
  readonly retryable = true;

  constructor(cause: unknown) {
    super("the write-ahead log could not be written", { cause });
  }
}

/**
 * A sync or a cut failed, so nobody knows what the disk holds. The log accepts nothing any more; the process must end
 * and recover at its next start.
 */
export class WalFailedError extends WalError {
  readonly retryable = false;

  constructor(cause: unknown) {
    super("the write-ahead log's disk failed", { cause });
  }
}

/** The log is closing or closed. */
export class WalClosedError extends WalError {
  readonly retryable = false;

  constructor() {
    super("the write-ahead log is closed");
  }
}

/** A record that no segment could hold. */
export class WalRecordTooLargeError extends WalError {
  readonly retryable = false;

  constructor(bytes: number, maxBytes: number) {
    super(`a record of ${bytes} bytes exceeds the write-ahead log's ${maxBytes}`);
  }
}

/** A numbered invariant of `wal.ts` does not hold: a bug. */
class WalInvariantError extends Error {
  override readonly name = "WalInvariantError";

  constructor(invariant: number, detail: string) {
    super(`write-ahead log invariant ${invariant} broken: ${detail}`);
  }
}

/** Throws unless invariant number `invariant` of the list in `wal.ts` holds. */
export function assertInvariant(holds: boolean, invariant: number, detail: string): asserts holds {
  if (!holds) throw new WalInvariantError(invariant, detail);
}
