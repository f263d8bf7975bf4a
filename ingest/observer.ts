/** What the pipeline tells about itself while it works; the server turns it into metrics and log lines. */
export interface IngestObserver {
  /** A request became rows of the open batch; `entries` counts its duplicates too, `bytes` is its unpacked body. */
  decoded(format: string, entries: number, duplicates: number, bytes: number, durationMs: number): void;
  /** A batch is durable; the requests in it are being acknowledged. */
  committed(rows: number, requests: number, durationMs: number): void;
  /** A batch could not be written; its requests are being refused. */
  commitFailed(requests: number, error: unknown): void;
  /** An insert is durable in the store. */
  inserted(rows: number, bytes: number, durationMs: number): void;
  /** An attempt to insert failed; the same insert follows after `retryInMs`. */
  insertFailed(error: unknown, attempt: number, retryInMs: number): void;
  /** A log segment could not be dropped although the store has its rows; it is tried again after the next insert. */
  releaseFailed(error: unknown): void;
}
