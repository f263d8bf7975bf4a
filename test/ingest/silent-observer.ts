import type { IngestObserver } from "../../ingest/observer.ts";

/** Hears and says nothing. */
export const SILENT_OBSERVER: IngestObserver = {
  decoded: () => undefined,
  committed: () => undefined,
  commitFailed: () => undefined,
  inserted: () => undefined,
  insertFailed: () => undefined,
  releaseFailed: () => undefined,
};
