import type { IngestObserver } from "../../ingest/index.ts";

/** How long a refused write speaks against the log, unless one succeeds before; then somebody has to try again. */
const FAILURE_MEMORY_MS = 10_000;

/** Remembers whether the newest batch could be made durable. */
export class LogWrites {
  readonly #now: () => number;
  #failedAtMs: number | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isFailing(): boolean {
    return this.#failedAtMs !== null && this.#now() - this.#failedAtMs < FAILURE_MEMORY_MS;
  }

  /** The same observer, listened to. */
  watch(observer: IngestObserver): IngestObserver {
    return {
      ...observer,
      committed: (rows, requests, durationMs) => {
        this.#failedAtMs = null;
        observer.committed(rows, requests, durationMs);
      },
      commitFailed: (requests, error) => {
        this.#failedAtMs = this.#now();
        observer.commitFailed(requests, error);
      },
    };
  }
}
